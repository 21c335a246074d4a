import Locking
import SystemSupport

/// Limits the bytes that a connection has accepted for its reader but not written yet. The gate is
/// open while fewer bytes than the limit are outstanding. Bytes stop being outstanding when the
/// kernel accepts them, so a reader that stops reading keeps the gate closed. Each message counts
/// as its bytes plus ``messageOverhead``.
final class OutputGate: Sendable {
  /// The cost of a waiting message in addition to its bytes: the envelope and the channel's
  /// bookkeeping for each write. For a short message, this is most of the cost.
  private static let messageOverhead = 512

  private struct State {
    var inFlight = 0
    var isClosed = false
  }

  private let limit: Int
  private let state = Guarded(State())
  private let change = ChangeSignal()

  init(limit: Int) { self.limit = limit }

  /// The outstanding bytes, including the overhead of their messages.
  var inFlight: Int { state.withLock { $0.inFlight } }

  var isOpen: Bool { state.withLock { !$0.isClosed && $0.inFlight < limit } }

  /// Reserves the bytes of a message if the gate is open. A single message may exceed the limit by
  /// any amount.
  func tryReserve(_ bytes: Int) -> Bool {
    state.withLock { state in
      guard !state.isClosed, state.inFlight < limit else { return false }
      state.inFlight += bytes + Self.messageOverhead
      return true
    }
  }

  /// Reserves the bytes of a message unconditionally. The final reply to a call need not be held
  /// back: each call has only one, and no call begins while the gate is closed.
  func reserve(_ bytes: Int) { state.withLock { $0.inFlight += bytes + Self.messageOverhead } }

  /// Releases the bytes of a message that was written or will never be written.
  func release(_ bytes: Int) {
    let isOpen = state.withLock { state in
      state.inFlight -= bytes + Self.messageOverhead
      return state.inFlight < limit
    }
    if isOpen { change.raise() }
  }

  /// Closes the gate permanently, because the reader is gone. Current and later waits end with a
  /// `CancellationError`.
  func close() {
    state.withLock { $0.isClosed = true }
    change.raise()
  }

  /// Returns when the gate is open. Another task may close the gate again before the caller
  /// continues.
  /// - Throws: `CancellationError` if the task is cancelled or the reader is gone.
  func waitUntilOpen() async throws {
    while true {
      try Task.checkCancellation()
      let (isClosed, isOpen) = state.withLock { ($0.isClosed, $0.inFlight < limit) }
      if isClosed { throw CancellationError() }
      if isOpen { return }
      await change.wait { [self] in state.withLock { !$0.isClosed && $0.inFlight >= limit } }
    }
  }
}
