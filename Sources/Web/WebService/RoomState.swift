import ControlInterface
package import JSON
package import NIOCore
import Platform
package import Varlink

/// Which form of a room is watched.
enum WatchedForm: String, CaseIterable {
  /// What `GetRoom` gives, for programs.
  case room
  /// What the views give, which is drawn.
  case screen
}

/// The newest state of a room for all streams that show it: one call of the daemon, whatever the number of
/// browsers. May be used from any thread.
///
/// A stream takes what has changed since the state that it sent last, when it can: whoever reads slowly gets fewer
/// and larger patches, and nothing is queued.
package final class RoomState: Sendable {
  /// A state and its number.
  package struct Version: Sendable {
    package let sequence: Int
    package let value: JSONValue
  }

  private struct State {
    var version: Version?
    /// The patches to the newest version that somebody asked for, by the version that they start from.
    var patches: [Int: ByteBuffer] = [:]
    var signals: [Int: AsyncStream<Void>.Continuation] = [:]
    var lastNumber = 0
    /// Why there will be no newer version.
    var end: VarlinkClientError??
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Guarded(State())

  package init() {}

  /// Tells apart the numbers of different states, for whoever resumes a stream.
  let instance = String(UInt32.random(in: .min ... .max), radix: 36)

  // MARK: The daemon's side

  package func update(_ value: JSONValue, sequence: Int) {
    let (signals, waiting) = state.withLock { state in
      state.version = Version(sequence: sequence, value: value)
      state.patches = [:]
      defer { state.waiting = [] }
      return (Array(state.signals.values), state.waiting)
    }
    for signal in signals { signal.yield() }
    for continuation in waiting { continuation.resume() }
  }

  /// - Parameter error: `nil` for an orderly end.
  package func end(_ error: VarlinkClientError?) {
    let (signals, waiting) = state.withLock { state in
      if state.end == nil { state.end = .some(error) }
      defer { (state.signals, state.waiting) = ([:], []) }
      return (Array(state.signals.values), state.waiting)
    }
    for signal in signals { signal.finish() }
    for continuation in waiting { continuation.resume() }
  }

  // MARK: The browsers' side

  /// Returns once there is a state.
  package func begin() async throws(VarlinkClientError) {
    await withCheckedContinuation { continuation in
      let isReady = state.withLock { state in
        if state.version != nil || state.end != nil { return true }
        state.waiting.append(continuation)
        return false
      }
      if isReady { continuation.resume() }
    }
    let (version, end) = state.withLock { ($0.version, $0.end) }
    if version == nil { throw (end ?? nil) ?? .connectionClosed }
  }

  /// Wakes a stream whenever there is something new, and now and then.
  package func subscribe() -> (number: Int, signals: AsyncStream<Void>) {
    let (signals, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.lastNumber += 1
      if state.end == nil {
        state.signals[state.lastNumber] = continuation
      } else {
        continuation.finish()
      }
      return state.lastNumber
    }
    continuation.yield()
    return (number, signals)
  }

  package func unsubscribe(_ number: Int) {
    state.withLock { $0.signals.removeValue(forKey: number) }?.finish()
  }

  /// Wakes all streams, so that they can show that they are alive.
  package func wake() {
    for signal in state.withLock({ Array($0.signals.values) }) { signal.yield() }
  }

  package var newest: Version? { state.withLock { $0.version } }

  /// The text of the merge patch from an older version to the newest one, made once for all who have the same.
  package func patch(from old: Version, to new: Version) -> ByteBuffer {
    if let known = state.withLock({
      $0.version?.sequence == new.sequence ? $0.patches[old.sequence] : nil
    }) {
      return known
    }
    let text = ByteBuffer(
      bytes: MergePatch.difference(from: old.value, to: new.value).serialized())
    state.withLock { state in
      if state.version?.sequence == new.sequence { state.patches[old.sequence] = text }
    }
    return text
  }
}
