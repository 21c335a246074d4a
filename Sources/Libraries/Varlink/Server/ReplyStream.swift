import JSON
package import NIOCore

/// Sends the replies of one call with the flag `more`, in order.
///
/// Memory stays bounded however slowly the client reads: at most
/// ``VarlinkServer/Limits/outputBytes`` and one reply wait for the client. A producer of states
/// rather than events should use ``trySend(parameters:)``. When that method returns false, the
/// producer should call ``waitUntilWritable()`` and then send the newest state; intermediate states
/// are merged or skipped.
package final class ReplyStream: Sendable {
  /// Whether the client accepts more than one reply. If false, sending throws
  /// ``ServiceError/expectedMore``.
  package let wantsMore: Bool
  private let gate: OutputGate
  private let write: @Sendable (ByteBuffer) -> Void

  init(wantsMore: Bool, gate: OutputGate, write: @escaping @Sendable (ByteBuffer) -> Void) {
    self.wantsMore = wantsMore
    self.gate = gate
    self.write = write
  }

  /// Whether ``trySend(parameters:)`` would accept a reply now.
  package var isWritable: Bool { gate.isOpen }

  /// Returns when the client has read enough for another reply.
  /// - Throws: `CancellationError` if the task is cancelled or the client has disconnected.
  package func waitUntilWritable() async throws { try await gate.waitUntilOpen() }

  /// Sends a reply, unless the client reads too slowly or has disconnected.
  /// - Parameter parameters: A JSON object, which is not copied, so many streams may share it.
  /// - Returns: Whether the reply was accepted.
  package func trySend(parameters: ByteBuffer) throws(ServiceError) -> Bool {
    if !wantsMore { throw .expectedMore }
    guard gate.tryReserve(parameters.readableBytes) else { return false }
    write(parameters)
    return true
  }

  /// Sends a reply. Waits for a slow client.
  /// - Throws: ``ServiceError/expectedMore``; `CancellationError` if the task is cancelled or the
  ///   client has disconnected.
  package func send(parameters: ByteBuffer) async throws {
    while try !trySend(parameters: parameters) { try await waitUntilWritable() }
  }

  /// Encodes and sends a reply. Waits for a slow client.
  package func send(_ reply: some Encodable) async throws {
    try await send(parameters: JSONValue(encoding: reply).buffer())
  }
}
