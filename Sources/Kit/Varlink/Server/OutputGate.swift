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
  }

  private let limit: Int
  private let state = Guarded(State())
  private let change = ChangeSignal()

  init(limit: Int) { self.limit = limit }

  /// The bytes outstanding, with the overhead of their messages.
  var inFlight: Int { state.withLock { $0.inFlight } }

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
    let isOpen = state.withLock { state in
      state.inFlight -= bytes + Self.messageOverhead
      return state.inFlight < limit
    }
    if isOpen { change.raise() }
  }

  /// The reader is gone: waits end with a `CancellationError`, now and later.
  func close() {
    state.withLock { $0.isClosed = true }
    change.raise()
  }

  /// Returns once the gate is open; another task may shut it again before the caller acts.
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
