package import JSON
import NIOCore
import Platform
import Varlink

/// The states of one room, or of its screen, for the monitors that show it.
///
/// Monitors pull. Whoever changes the room marks the feed as stale, which encodes nothing. A
/// monitor that is due, or about to be, asks for a reading, and only of the features that it shows:
/// the next change hands it out, so that a busy lane is not woken for it. A monitor that is due and
/// has none visits the room. Monitors of the same features share what was read, and the encoded
/// patch if they come from the same state. A monitor that falls behind gets one patch to the newest
/// state, so the cost of a slow monitor does not grow.
package final class RoomFeed: Sendable {
  /// A state as JSON.
  struct State {
    /// Grows with each change of the room; numbers are missing where changes were merged.
    let number: UInt64
    let value: JSONValue
  }

  /// Encodes what was taken from the room, where the monitor runs.
  package typealias Reading = @Sendable () throws -> JSONValue

  /// What monitors of the same features share.
  private struct Shared {
    var monitors = 0
    var newest: State?
    /// A monitor wants what the next change hands out.
    var isAwaited = false
    /// Handed out, and not encoded yet.
    var reading: (number: UInt64, encode: Reading)?
    var isBeingRead = false
    /// Encoded patches to the newest state, by the number of the state before; nil where nothing
    /// differs.
    var patches: [UInt64: ByteBuffer?] = [:]
  }

  private struct Contents {
    /// Of the room's present state.
    var number: UInt64 = 1
    /// By features; nil means all of them.
    var shared: [Set<Feature>?: Shared] = [:]
    /// How many of ``shared`` await a reading.
    var awaited = 0
    var reads = 0
    /// The room is gone, without an end to report to monitors.
    var isDetached = false
    var end: (any Error)?

    mutating func await(_ features: Set<Feature>?) {
      guard shared[features]?.isAwaited == false else { return }
      shared[features]?.isAwaited = true
      awaited += 1
    }

    /// Returns whether it was awaited.
    @discardableResult
    mutating func stopAwaiting(_ features: Set<Feature>?) -> Bool {
      guard shared[features]?.isAwaited == true else { return false }
      shared[features]?.isAwaited = false
      awaited -= 1
      return true
    }
  }

  private let contents = Guarded(Contents())
  private let change = ChangeSignal()
  /// Apart from ``change``, so that a change does not wake a monitor whose time has not come.
  private let ending = ChangeSignal()
  private let visit: @Sendable (_ features: Set<Feature>?) async -> Reading?

  /// - Parameter visit: Reads the room's present state with these features, nil meaning all of them;
  ///   nil once the room is gone. Then monitors wait for ``finish(_:)`` or their cancellation.
  package init(visit: @escaping @Sendable (_ features: Set<Feature>?) async -> Reading?) {
    self.visit = visit
  }

  /// Whether anybody watches.
  package var hasMonitors: Bool { contents.withLock { !$0.shared.isEmpty } }

  /// How often the room was read for its monitors, by visits and at changes.
  package var readCount: Int { contents.withLock { $0.reads } }

  /// Notes that the room has changed, and hands out what monitors await. Encodes nothing; costs a
  /// lock and an addition if no monitor is due.
  ///
  /// - Parameter read: Reads the room as it is now, with these features.
  package func markStale(_ read: (_ features: Set<Feature>?) -> Reading) {
    let awaited: [Set<Feature>?]? = contents.withLock { contents in
      if contents.shared.isEmpty { return nil }
      contents.number += 1
      guard contents.awaited > 0 else { return [] }
      // Lazily, since `filter` would make a dictionary.
      return Array(contents.shared.lazy.filter(\.value.isAwaited).map(\.key))
    }
    guard let awaited else { return }
    handOut(to: awaited, read)
    change.raise()
  }

  /// Reads the room for those monitors of these features that still await it.
  private func handOut(
    to awaited: [Set<Feature>?], _ read: (_ features: Set<Feature>?) -> Reading
  ) {
    for features in awaited {
      let reading = read(features)
      contents.withLock { contents in
        guard contents.stopAwaiting(features) else { return }
        contents.reads += 1
        contents.shared[features]?.reading = (contents.number, reading)
      }
    }
  }

  /// Ends all monitors, now and later, with an error; the first end stays.
  ///
  /// - Parameter read: reads the room's last state with these features, for the monitors that lack
  ///   it.
  package func finish(
    _ error: ControlError, _ read: ((_ features: Set<Feature>?) -> Reading)? = nil
  ) {
    if let read {
      let all = contents.withLock { contents in
        for features in contents.shared.keys { contents.await(features) }
        return Array(contents.shared.keys)
      }
      handOut(to: all, read)
    }
    contents.withLock { if $0.end == nil { $0.end = error } }
    change.raise()
    ending.raise()
  }

  /// Ends all monitors by closing their connections: what they watched may go on, but not here.
  package func abandon() {
    contents.withLock { if $0.end == nil { $0.end = CancellationError() } }
    change.raise()
    ending.raise()
  }

  // MARK: Monitors

  // What takes the lock for a monitor is never inlined into an asynchronous function: there the
  // compiler (6.3.1) may keep the number of the thread that took a lock over a suspension.

  /// Adds a monitor of these features, to be removed by ``removeMonitor(of:)``.
  @inline(never)
  func addMonitor(of features: Set<Feature>?) {
    contents.withLock { $0.shared[features, default: Shared()].monitors += 1 }
  }

  @inline(never)
  func removeMonitor(of features: Set<Feature>?) {
    contents.withLock { contents in
      contents.shared[features]?.monitors -= 1
      guard contents.shared[features]?.monitors == 0 else { return }
      // Without monitors nothing is kept.
      contents.stopAwaiting(features)
      contents.shared[features] = nil
    }
  }

  /// Asks for a reading at the next change of the room, for a monitor that will be due soon.
  ///
  /// - Returns: the number of the room's present state.
  @inline(never)
  func awaitReading(_ features: Set<Feature>?) -> UInt64 {
    contents.withLock { contents in
      contents.await(features)
      return contents.number
    }
  }

  @inline(never)
  func hasEnded() -> Bool { contents.withLock { $0.end != nil } }

  /// Returns once the feed has ended.
  func waitForEnd() async {
    await ending.wait { [self] in contents.withLock { $0.end == nil } }
  }

  private enum Step {
    case take(State)
    case encode(UInt64, Reading)
    /// Read the state of this number.
    case visit(UInt64)
    case wait
  }

  /// The newest state if its number is above that one; waits until there is such a state.
  ///
  /// Visits the room unless a reading was handed out, or another monitor of the same features has
  /// read its present state or is reading it.
  ///
  /// - Parameter recent: the number of a state; those after it are new enough, even if the room has
  ///   changed since.
  /// - Throws: The error that ended the feed, `CancellationError`, and what encoding throws.
  func next(
    after number: UInt64, recent: UInt64 = .max, features: Set<Feature>?
  ) async throws -> State {
    // What was read on the way is taken even if the room changed meanwhile: a busy room would never
    // let a monitor go.
    var recent = recent
    while true {
      try Task.checkCancellation()
      switch try step(after: number, recent: recent, features) {
      case .take(let state): return state
      case .encode(let present, let reading): try finishReading(present, reading, features)
      case .visit(let present): try finishReading(present, await visit(features), features)
      case .wait: await waitForStep(after: number, features)
      }
      recent = number
    }
  }

  @inline(never)
  private func step(
    after number: UInt64, recent: UInt64, _ features: Set<Feature>?
  ) throws -> Step {
    let result: Result<Step, any Error> = contents.withLock { contents in
      let shared = contents.shared[features, default: Shared()]
      if let newest = shared.newest, newest.number > number,
        newest.number > recent || newest.number == contents.number
      {
        return .success(.take(newest))
      }
      if shared.isBeingRead { return .success(.wait) }
      if let reading = shared.reading {
        contents.shared[features]?.reading = nil
        contents.shared[features]?.isBeingRead = true
        return .success(.encode(reading.number, reading.encode))
      }
      if let end = contents.end { return .failure(end) }
      if contents.isDetached { return .success(.wait) }
      guard contents.number > number else {
        contents.await(features)
        return .success(.wait)
      }
      contents.stopAwaiting(features)
      contents.shared[features]?.isBeingRead = true
      contents.reads += 1
      return .success(.visit(contents.number))
    }
    return try result.get()
  }

  /// Encodes a reading and shares it; nil if the room is gone.
  @inline(never)
  private func finishReading(
    _ number: UInt64, _ reading: Reading?, _ features: Set<Feature>?
  ) throws {
    let value = Result { try reading?() }
    contents.withLock { contents in
      contents.shared[features]?.isBeingRead = false
      guard case .success(let value) = value else { return }
      guard let value else { return contents.isDetached = true }
      contents.shared[features]?.newest = State(number: number, value: value)
      contents.shared[features]?.patches = [:]
    }
    change.raise()
    _ = try value.get()
  }

  private func waitForStep(after number: UInt64, _ features: Set<Feature>?) async {
    await change.wait { [self] in
      contents.withLock { contents in
        if contents.shared[features]?.isBeingRead == true { return true }
        if contents.end != nil || contents.shared[features]?.reading != nil { return false }
        return contents.isDetached || contents.number <= number
      }
    }
  }

  /// The encoded reply with the patch from one state to another; nil if they are equal. Made once
  /// for all monitors of these features that go from the one to the other.
  @inline(never)
  func patch(from old: State, to new: State, features: Set<Feature>?) -> ByteBuffer? {
    let known: ByteBuffer?? = contents.withLock { contents in
      guard let shared = contents.shared[features], shared.newest?.number == new.number else {
        return nil
      }
      return shared.patches[old.number]
    }
    if let known { return known }
    let patch = MergePatch.difference(from: old.value, to: new.value)
    let reply: JSONValue = ["patch": patch, "sequence": .integer(Int64(new.number))]
    let buffer = patch == .object([:]) ? nil : reply.buffer()
    contents.withLock { contents in
      guard contents.shared[features]?.newest?.number == new.number else { return }
      contents.shared[features]?.patches.updateValue(buffer, forKey: old.number)
    }
    return buffer
  }
}
