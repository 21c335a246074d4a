import JSON
import NIOCore
import Platform
import Varlink

/// The states of one room, or of its screen, from the one who publishes them to all monitors.
///
/// Holds the newest state only. A monitor that falls behind gets the difference to the newest state
/// once it reads again, so what a slow monitor costs does not grow. The patch from one state to the
/// next is made and encoded once for all monitors that make the same step.
public final class RoomFeed: Sendable {
  private struct Step: Hashable {
    let features: Set<Feature>?
    let from: UInt64
  }

  private struct State {
    var sequence: UInt64 = 0
    /// Nil until the first state after the first subscription.
    var newest: JSONValue?
    /// Encoded patches to the newest state.
    var patches: [Step: ByteBuffer] = [:]
    var subscribers = 0
    var end: ControlError?
  }

  private let state = Guarded(State())
  private let signal = ChangeSignal()
  private let onDemand: @Sendable () -> Void

  /// - Parameter onDemand: Called from any thread when a first monitor needs a state; the publisher
  ///   should publish soon, even if nothing changes.
  public init(onDemand: @escaping @Sendable () -> Void) { self.onDemand = onDemand }

  /// Whether anybody would see what is published.
  public var hasSubscribers: Bool { state.withLock { $0.subscribers > 0 } }

  /// Makes this the newest state; without subscribers, does nothing.
  /// - Throws: `EncodingError` if the report holds a number that JSON lacks.
  public func publish(_ report: some Encodable) throws {
    guard hasSubscribers else { return }
    let value = try JSONValue(encoding: report)
    wake { state in
      guard state.subscribers > 0, state.newest != value else { return }
      state.sequence += 1
      state.newest = value
      state.patches = [:]
    }
  }

  /// Ends all monitors, now and later, with an error; the first end stays.
  public func finish(_ error: ControlError) {
    wake { state in if state.end == nil { state.end = error } }
  }

  private func wake(_ change: (inout State) -> Void) {
    state.withLock { change(&$0) }
    signal.raise()
  }

  func subscribe() {
    let isFirst = state.withLock { state in
      state.subscribers += 1
      return state.newest == nil
    }
    if isFirst { onDemand() }
  }

  func unsubscribe() {
    state.withLock { state in
      state.subscribers -= 1
      // Nobody keeps it up to date from here on.
      if state.subscribers == 0 { (state.newest, state.patches) = (nil, [:]) }
    }
  }

  /// Waits for a state after that one.
  /// - Throws: The error that ended the feed, or `CancellationError`.
  func next(after sequence: UInt64) async throws -> (sequence: UInt64, room: JSONValue) {
    while true {
      try Task.checkCancellation()
      if let newest = try newest(after: sequence) { return newest }
      await waitForChange(after: sequence)
    }
  }

  private func newest(
    after sequence: UInt64
  ) throws(ControlError) -> (sequence: UInt64, room: JSONValue)? {
    let (end, current, newest) = state.withLock { ($0.end, $0.sequence, $0.newest) }
    if let end { throw end }
    guard let newest, current > sequence else { return nil }
    return (current, newest)
  }

  private func waitForChange(after sequence: UInt64) async {
    await signal.wait {
      state.withLock { $0.end == nil && ($0.newest == nil || $0.sequence <= sequence) }
    }
  }

  /// The encoded reply with the patch to a state; shared by all who make the same step.
  func patch(
    from old: (sequence: UInt64, room: JSONValue), to new: (sequence: UInt64, room: JSONValue),
    features: Set<Feature>?
  ) -> ByteBuffer? {
    let step = Step(features: features, from: old.sequence)
    if let shared = state.withLock({ $0.sequence == new.sequence ? $0.patches[step] : nil }) {
      return shared
    }
    let patch = MergePatch.difference(from: old.room, to: new.room)
    if patch == .object([:]) { return nil }
    let reply: JSONValue = ["patch": patch, "sequence": .integer(Int64(new.sequence))]
    let buffer = reply.buffer()
    state.withLock { state in
      if state.sequence == new.sequence { state.patches[step] = buffer }
    }
    return buffer
  }
}
