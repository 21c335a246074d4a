import JSON
package import NIOCore

/// Sends the replies of one call that asked for `more`, in order.
///
/// Memory stays bounded however slowly the client reads: at most
/// ``VarlinkServer/Limits/outputBytes`` and one reply wait for it. A producer of states rather than
/// of events should use ``trySend(parameters:)`` and, when that says no, ``waitUntilWritable()``,
/// after which it sends the newest state; states in between are merged or skipped.
package final class ReplyStream: Sendable {
  /// Whether the client asked for more than one reply. If not, sending throws
  /// ``ServiceError/expectedMore``.
  package let wantsMore: Bool
  private let gate: OutputGate
  private let write: @Sendable (ByteBuffer) -> Void

  init(wantsMore: Bool, gate: OutputGate, write: @escaping @Sendable (ByteBuffer) -> Void) {
    self.wantsMore = wantsMore
    self.gate = gate
    self.write = write
  }

  /// Whether ``trySend(parameters:)`` would take a reply now.
  package var isWritable: Bool { gate.isOpen }

  /// Returns once the client has read enough for another reply.
  /// - Throws: `CancellationError` if the task is cancelled or the client has disconnected.
  package func waitUntilWritable() async throws { try await gate.waitUntilOpen() }

  /// Sends a reply, unless the client reads too slowly or has disconnected; then nothing is sent.
  /// - Parameter parameters: A JSON object. It is not copied, so many streams may share it.
  /// - Returns: Whether the reply was taken.
  package func trySend(parameters: ByteBuffer) throws(ServiceError) -> Bool {
    if !wantsMore { throw .expectedMore }
    guard gate.tryReserve(parameters.readableBytes) else { return false }
    write(parameters)
    return true
  }

  /// Sends a reply, after waiting for a slow client.
  /// - Throws: ``ServiceError/expectedMore``; `CancellationError` if the task is cancelled or the
  ///   client has disconnected.
  package func send(parameters: ByteBuffer) async throws {
    while try !trySend(parameters: parameters) { try await waitUntilWritable() }
  }

  /// Encodes and sends a reply, after waiting for a slow client.
  package func send(_ reply: some Encodable) async throws {
    try await send(parameters: JSONValue(encoding: reply).buffer())
  }
}
