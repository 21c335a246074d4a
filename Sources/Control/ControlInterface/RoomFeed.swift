package import JSON
import Locking
import NIOCore
import SystemSupport
import Varlink

/// Provides the states of one room, or of its screen, to all monitors of the room.
///
/// Monitors request states from the feed. A change of the room only marks the feed as stale; it
/// encodes nothing. A *reading* is a copy of the room's state that can be encoded later. A monitor
/// requests a reading of the features that it shows shortly before it may send the next reply. The
/// room's next change provides the reading, so that the lane does not get additional work. If there
/// is no reading when the monitor may send, the monitor visits the lane to read the room.
///
/// Monitors of the same features share their readings. They also share an encoded patch if they
/// have sent the same previous state. A monitor that falls behind sends a single patch to the
/// newest state, so its costs do not accumulate.
package final class RoomFeed: Sendable {
  struct State {
    /// A number that increases with each change of the room. Several changes may be merged into one
    /// state, so numbers may be skipped.
    let number: UInt64
    let value: JSONValue
  }

  /// Encodes the room's state as it was read. Monitors call this on their own threads, not on the
  /// lane.
  package typealias Reading = @Sendable () throws -> JSONValue

  /// The state shared by all monitors of the same features.
  private struct Shared {
    var monitors = 0
    var newest: State?
    /// Whether a monitor has requested that the room's next change provides a reading.
    var isAwaited = false
    /// A reading that a change provided and that has not been encoded yet.
    var reading: (number: UInt64, encode: Reading)?
    var isBeingRead = false
    /// The encoded patches from older states to the newest state, by the number of the older state;
    /// a nil patch means that both states are equal.
    var patches: [UInt64: ByteBuffer?] = [:]
  }

  private struct Contents {
    var number: UInt64 = 1
    /// The shared states by features; nil means all features.
    var shared: [Set<Feature>?: Shared] = [:]
    /// The number of elements of ``shared`` for which a reading is requested.
    var awaited = 0
    var reads = 0
    /// Whether a visit has found the room closed. Monitors then wait for ``finish(_:)`` or for
    /// their cancellation.
    var isDetached = false
    var end: (any Error)?

    mutating func await(_ features: Set<Feature>?) {
      guard shared[features]?.isAwaited == false else { return }
      shared[features]?.isAwaited = true
      awaited += 1
    }

    /// Withdraws the request for a reading; returns whether there was one.
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
  /// Signals the end of the feed. It is separate from ``change``, because a change must not wake a
  /// monitor before its next reply is due.
  private let ending = ChangeSignal()
  private let visit: @Sendable (_ features: Set<Feature>?) async -> Reading?

  /// - Parameter visit: reads the room's current state with these features (nil means all); returns
  ///   nil once the room is closed. Monitors then wait for ``finish(_:)`` or for their
  ///   cancellation.
  package init(visit: @escaping @Sendable (_ features: Set<Feature>?) async -> Reading?) {
    self.visit = visit
  }

  package var hasMonitors: Bool { contents.withLock { !$0.shared.isEmpty } }

  /// The number of times that the room was read for its monitors, either in visits or at changes of
  /// the room.
  package var readCount: Int { contents.withLock { $0.reads } }

  /// Marks the feed as stale after a change of the room, and calls `read` for the readings that
  /// monitors requested. Encodes nothing; costs a lock and an addition if no reading was requested.
  package func markStale(_ read: (_ features: Set<Feature>?) -> Reading) {
    let awaited: [Set<Feature>?]? = contents.withLock { contents in
      if contents.shared.isEmpty { return nil }
      contents.number += 1
      guard contents.awaited > 0 else { return [] }
      // The lazy form avoids the dictionary that `filter` would create.
      return Array(contents.shared.lazy.filter(\.value.isAwaited).map(\.key))
    }
    guard let awaited else { return }
    handOut(to: awaited, read)
    change.raise()
  }

  /// Reads the room for monitors that still wait for a reading of these sets of features.
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

  /// Ends all current and future monitors with an error. Calls `read` to read the room's last state
  /// for monitors that have not received it. Later calls have no effect.
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

  /// Ends all monitors by closing their connections. Must be called when the room moves out of this
  /// process.
  package func abandon() {
    contents.withLock { if $0.end == nil { $0.end = CancellationError() } }
    change.raise()
    ending.raise()
  }

  // MARK: Monitors

  // The functions below that lock must not be inlined into an asynchronous function. Otherwise the
  // compiler (6.3.1) may use the ID of the thread that locked before a suspension for a lock after
  // it.

  /// Adds a monitor of these features, which ``removeMonitor(of:)`` removes.
  @inline(never)
  func addMonitor(of features: Set<Feature>?) {
    contents.withLock { $0.shared[features, default: Shared()].monitors += 1 }
  }

  @inline(never)
  func removeMonitor(of features: Set<Feature>?) {
    contents.withLock { contents in
      contents.shared[features]?.monitors -= 1
      guard contents.shared[features]?.monitors == 0 else { return }
      // Without monitors, no state is stored.
      contents.stopAwaiting(features)
      contents.shared[features] = nil
    }
  }

  /// Requests that the room's next change provides a reading, for a monitor whose next reply is due
  /// soon. Returns the number of the room's current state.
  @inline(never)
  func awaitReading(_ features: Set<Feature>?) -> UInt64 {
    contents.withLock { contents in
      contents.await(features)
      return contents.number
    }
  }

  @inline(never)
  func hasEnded() -> Bool { contents.withLock { $0.end != nil } }

  func waitForEnd() async {
    await ending.wait { [self] in contents.withLock { $0.end == nil } }
  }

  private enum Step {
    case deliver(State)
    case encode(UInt64, Reading)
    /// The caller must visit the room's lane to read the room's state, which has this number.
    case visit(UInt64)
    case wait
  }

  /// Waits for a state whose number exceeds `number`, and returns the newest state. A state whose
  /// number also exceeds `recent` is returned even if the room has changed since it was read.
  ///
  /// Visits the room only if this is necessary: no reading was provided, and no other monitor of
  /// the same features has read the current state or is reading it.
  ///
  /// - Throws: The error that ended the feed, `CancellationError`, and errors of encoding.
  func next(
    after number: UInt64, recent: UInt64 = .max, features: Set<Feature>?
  ) async throws -> State {
    // A state that was read during this call is returned even if the room has changed since.
    // Otherwise a room that changes constantly could delay a monitor forever.
    var recent = recent
    while true {
      try Task.checkCancellation()
      switch try step(after: number, recent: recent, features) {
      case .deliver(let state): return state
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
        return .success(.deliver(newest))
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

  /// Encodes a reading, and shares the state with all monitors of the same features. A nil reading
  /// means that the room is closed.
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

  /// Returns the encoded reply with the patch between two states; nil if the states are equal.
  /// Monitors of the same features that need the same patch share it.
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
