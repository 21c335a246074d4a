import Platform

/// Bounds the bytes that one connection has accepted for its reader and not yet written.
///
/// Open while fewer than the limit are under way. What opens the gate is that the kernel took the
/// bytes, so a reader that stops reading holds it shut. Each message counts for
/// ``messageOverhead`` more than its bytes.
final class OutputGate: Sendable {
  /// What a message that waits costs beside its bytes: its frame, and the channel's records of its
  /// writes, which outweigh a short message many times.
  private static let messageOverhead = 512

  private struct State {
    var inFlight = 0
    var isClosed = false
    var nextID: UInt64 = 0
    var waiters: [UInt64: CheckedContinuation<Void, any Error>] = [:]
    /// Waits cancelled before they began.
    var cancelled: Set<UInt64> = []
  }

  private let limit: Int
  private let state = Guarded(State())

  init(limit: Int) { self.limit = limit }

  var isOpen: Bool { state.withLock { !$0.isClosed && $0.inFlight < limit } }

  /// Takes the bytes of a message if the gate is open. One may pass the limit, however long it is.
  func tryReserve(_ bytes: Int) -> Bool {
    state.withLock { state in
      guard !state.isClosed, state.inFlight < limit else { return false }
      state.inFlight += bytes + Self.messageOverhead
      return true
    }
  }

  /// Takes the bytes of a message in any case: a final reply is not held back, since no call begins
  /// while the gate is shut.
  func reserve(_ bytes: Int) { state.withLock { $0.inFlight += bytes + Self.messageOverhead } }

  /// The message for which this number of bytes was taken was written, or never will be.
  func release(_ bytes: Int) {
    let waiters = state.withLock { state in
      state.inFlight -= bytes + Self.messageOverhead
      guard state.inFlight < limit else { return [CheckedContinuation<Void, any Error>]() }
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.resume() }
  }

  /// The reader is gone: waits end with a `CancellationError`, now and later.
  func close() {
    let waiters = state.withLock { state in
      state.isClosed = true
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.resume(throwing: CancellationError()) }
  }

  /// Returns once the gate is open; another task may shut it again before the caller acts.
  /// - Throws: `CancellationError` if the task is cancelled or the reader is gone.
  func waitUntilOpen() async throws {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result: Result<Void, any Error>? = state.withLock { state in
          if state.cancelled.remove(id) != nil || state.isClosed {
            return .failure(CancellationError())
          }
          if state.inFlight < limit { return .success(()) }
          state.waiters[id] = continuation
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        if let waiter = state.waiters.removeValue(forKey: id) { return waiter as Optional }
        state.cancelled.insert(id)
        return nil
      }
      waiter?.resume(throwing: CancellationError())
    }
    state.withLock { _ = $0.cancelled.remove(id) }
  }
}
