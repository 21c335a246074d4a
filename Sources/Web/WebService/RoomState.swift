import ControlInterface
package import JSON
import Locking
package import NIOCore
import SystemSupport
package import Varlink

enum WatchedForm: String, CaseIterable {
  /// The state in the form of a reply of `GetRoom`, for programs.
  case room
  /// The output of the views, for browsers that draw the screen.
  case screen
}

/// The newest state of a room. All streams that show the room share it, so that one call to the
/// daemon serves any number of browsers. Callable from any thread.
///
/// When a stream can send, it sends the changes since the last state that it sent. A slow reader
/// therefore receives fewer and larger patches, and nothing is queued.
package final class RoomState: Sendable {
  package struct Version: Sendable {
    package let sequence: Int
    package let value: JSONValue
  }

  private struct State {
    var version: Version?
    /// The patches to the newest version that streams have already requested, by the number of the
    /// version from which each patch starts.
    var patches: [Int: ByteBuffer] = [:]
    var signals: [Int: AsyncStream<Void>.Continuation] = [:]
    var lastNumber = 0
    /// The reason why there will be no newer version, once this is known.
    var end: VarlinkClientError??
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Guarded(State())

  package init() {}

  /// An identifier of this instance. Version numbers of different instances are unrelated, so a
  /// client that resumes a stream must name the instance.
  let instance = String(UInt32.random(in: .min ... .max), radix: 36)

  // MARK: For the daemon's updates

  /// Stores a new state and wakes all streams.
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

  /// Ends all streams with the reason, or with `nil` for an orderly end.
  package func end(_ error: VarlinkClientError?) {
    let (signals, waiting) = state.withLock { state in
      if state.end == nil { state.end = .some(error) }
      defer { (state.signals, state.waiting) = ([:], []) }
      return (Array(state.signals.values), state.waiting)
    }
    for signal in signals { signal.finish() }
    for continuation in waiting { continuation.resume() }
  }

  // MARK: For the browsers' streams

  /// Returns once there is a state. Throws the reason why there will be no state.
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

  /// Adds a stream. It receives a signal whenever the state changes, and from time to time while
  /// the state does not change.
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

  /// Wakes all streams, so that idle ones send `alive`.
  package func wake() {
    for signal in state.withLock({ Array($0.signals.values) }) { signal.yield() }
  }

  package var newest: Version? { state.withLock { $0.version } }

  /// Returns the text of the merge patch from an older version to the newest one. Streams with the
  /// same older version share the result.
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
