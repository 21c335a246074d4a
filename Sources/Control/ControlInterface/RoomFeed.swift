import JSON
import NIOCore
import Platform
import Varlink

/// The states of one room, or of its screen, for the monitors that show it.
///
/// Monitors pull. Whoever changes the room marks the feed as stale, which encodes nothing. A
/// monitor that is due reads the room, and only the features that it shows. Monitors of the same
/// features share what was read, and the encoded patch if they come from the same state. A monitor
/// that falls behind gets one patch to the newest state, so the cost of a slow monitor does not
/// grow.
package final class RoomFeed: Sendable {
  /// A state as JSON.
  struct State {
    /// Grows with each change of the room; numbers are missing where changes were merged.
    let number: UInt64
    let value: JSONValue
  }

  /// What monitors of the same features share.
  private struct Shared {
    var monitors = 0
    var newest: State?
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
    var reads = 0
    /// The room is gone, without an end to report to monitors.
    var isDetached = false
    var end: ControlError?
  }

  private let contents = Guarded(Contents())
  private let change = ChangeSignal()
  private let read: @Sendable (_ features: Set<Feature>?) async throws -> JSONValue?

  /// - Parameter read: Reads the room's present state with these features, nil meaning all of them.
  ///   What it gives is encoded where the monitor runs; nil once the room is gone. Then monitors
  ///   wait for ``finish(_:)`` or their cancellation.
  package init<Report: Encodable & Sendable>(
    read: @escaping @Sendable (_ features: Set<Feature>?) async -> Report?
  ) {
    self.read = { features in try await read(features).map { try JSONValue(encoding: $0) } }
  }

  /// Whether anybody watches.
  package var hasMonitors: Bool { contents.withLock { !$0.shared.isEmpty } }

  /// How often the room was read for its monitors.
  package var readCount: Int { contents.withLock { $0.reads } }

  /// Notes that the room has changed. Costs a lock and an addition; encodes nothing.
  package func markStale() {
    let hasMonitors = contents.withLock { contents in
      if contents.shared.isEmpty { return false }
      contents.number += 1
      return true
    }
    if hasMonitors { change.raise() }
  }

  /// Ends all monitors, now and later, with an error; the first end stays.
  package func finish(_ error: ControlError) {
    contents.withLock { if $0.end == nil { $0.end = error } }
    change.raise()
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
      // Without monitors nothing is kept.
      if contents.shared[features]?.monitors == 0 { contents.shared[features] = nil }
    }
  }

  private enum Step {
    case take(State)
    /// Read the state of this number.
    case read(UInt64)
    case wait
  }

  /// The newest state if its number is above that one; waits until there is such a state.
  ///
  /// Reads the room once, unless another monitor of the same features has read its present state,
  /// or is reading it.
  /// - Throws: The error that ended the feed, `CancellationError`, and what reading throws.
  func next(after number: UInt64, features: Set<Feature>?) async throws -> State {
    // What was read on the way is taken even if the room changed meanwhile: a busy room would never
    // let a monitor go.
    var takesOlder = false
    while true {
      try Task.checkCancellation()
      switch try step(after: number, features, takesOlder: takesOlder) {
      case .take(let state): return state
      case .read(let present): try await readState(present, features)
      case .wait: await waitForStep(after: number, features)
      }
      takesOlder = true
    }
  }

  @inline(never)
  private func step(
    after number: UInt64, _ features: Set<Feature>?, takesOlder: Bool
  ) throws(ControlError) -> Step {
    let result: Result<Step, ControlError> = contents.withLock { contents in
      if let end = contents.end { return .failure(end) }
      let shared = contents.shared[features, default: Shared()]
      if let newest = shared.newest, newest.number > number,
        takesOlder || newest.number == contents.number
      {
        return .success(.take(newest))
      }
      guard contents.number > number, !contents.isDetached, !shared.isBeingRead else {
        return .success(.wait)
      }
      contents.shared[features]?.isBeingRead = true
      contents.reads += 1
      return .success(.read(contents.number))
    }
    return try result.get()
  }

  private func readState(_ number: UInt64, _ features: Set<Feature>?) async throws {
    do {
      let value = try await read(features)
      finishReading(features) { contents in
        guard let value else { return contents.isDetached = true }
        contents.shared[features]?.newest = State(number: number, value: value)
        contents.shared[features]?.patches = [:]
      }
    } catch {
      finishReading(features) { _ in }
      throw error
    }
  }

  @inline(never)
  private func finishReading(_ features: Set<Feature>?, _ body: (inout Contents) -> Void) {
    contents.withLock { contents in
      contents.shared[features]?.isBeingRead = false
      body(&contents)
    }
    change.raise()
  }

  private func waitForStep(after number: UInt64, _ features: Set<Feature>?) async {
    await change.wait { [self] in
      contents.withLock { contents in
        if contents.end != nil { return false }
        return contents.isDetached || contents.number <= number
          || contents.shared[features]?.isBeingRead == true
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
