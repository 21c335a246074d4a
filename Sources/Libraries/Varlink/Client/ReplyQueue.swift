import JSON
import Locking
import NIOCore
import SystemSupport

/// The replies to one call, from the event loop that reads to the task that consumes.
final class ReplyQueue: Sendable {
  typealias Reply = Result<[JSONName: JSONValue]?, VarlinkClientError>

  private struct State {
    var replies = CircularBuffer<[JSONName: JSONValue]>()
    /// The end of the series; the inner value is nil for a regular end.
    var end: VarlinkClientError??
    var waiter: CheckedContinuation<Reply, Never>?
  }

  /// The maximum number of unread replies before the connection stops reading. When the connection
  /// ends, all replies that it has read are queued regardless of this limit.
  private static let capacity = 16
  private let state = Guarded(State())
  /// A closure that is called when a full queue has free capacity again.
  private let onFreeCapacity: @Sendable () -> Void

  init(onFreeCapacity: @escaping @Sendable () -> Void) { self.onFreeCapacity = onFreeCapacity }

  var isFull: Bool { state.withLock { $0.replies.count >= Self.capacity } }
  var hasEnded: Bool { state.withLock { $0.end != nil } }
  /// Whether the last reply was consumed; false if the series ended with an error.
  var isFinished: Bool {
    state.withLock { state in
      if case .some(.none) = state.end { state.replies.isEmpty } else { false }
    }
  }

  func push(_ reply: [JSONName: JSONValue], isLast: Bool) {
    let waiter = state.withLock { state in
      if state.end != nil { return nil as CheckedContinuation<Reply, Never>? }
      if isLast { state.end = .some(nil) }
      if state.waiter == nil { state.replies.append(reply) }
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: .success(reply))
  }

  /// Ends the series early. Waiting replies are still delivered first. Later calls have no effect.
  func fail(_ error: VarlinkClientError) {
    let waiter = state.withLock { state in
      if state.end != nil { return nil as CheckedContinuation<Reply, Never>? }
      state.end = .some(error)
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: .failure(error))
  }

  /// Returns the next reply, or nil after the last one. Only one task may wait at a time.
  func next() async throws(VarlinkClientError) -> [JSONName: JSONValue]? {
    let reply: Reply = await withCheckedContinuation { continuation in
      let (now, madeRoom) = state.withLock { state -> (Reply?, Bool) in
        let wasFull = state.replies.count >= Self.capacity
        if let reply = state.replies.popFirst() { return (.success(reply), wasFull) }
        switch state.end {
        case .some(.some(let error)): return (.failure(error), false)
        case .some(.none): return (.success(nil), false)
        case .none:
          state.waiter = continuation
          return (nil, false)
        }
      }
      if madeRoom { onFreeCapacity() }
      if let now { continuation.resume(returning: now) }
    }
    return try reply.get()
  }
}
