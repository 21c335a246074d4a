import Platform

/// Limits the bytes that a connection has accepted for its reader but not written yet.
///
/// Open while fewer bytes than the limit are outstanding. Bytes are no longer outstanding once the
/// kernel has taken them, so a reader that stops reading keeps the gate closed. Each message counts
/// for ``messageOverhead`` more than its bytes.
final class OutputGate: Sendable {
  /// What a waiting message costs in addition to its bytes: its envelope, and the channel's records
  /// of its writes, which far outweigh a short message.
  private static let messageOverhead = 512

  private struct State {
    var inFlight = 0
    var isClosed = false
    var nextID: UInt64 = 0
    var waiters: [UInt64: CheckedContinuation<Void, any Error>] = [:]
    /// Waits that were cancelled before they began.
    var cancelled: Set<UInt64> = []
  }

  private let limit: Int
  private let state = Guarded(State())

  init(limit: Int) { self.limit = limit }

  var isOpen: Bool { state.withLock { !$0.isClosed && $0.inFlight < limit } }

  /// Reserves the bytes of a message if the gate is open. A single message may exceed the limit,
  /// however long it is.
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
