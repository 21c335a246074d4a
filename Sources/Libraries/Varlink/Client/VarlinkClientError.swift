/// The reason why a client's call returned no reply.
package enum VarlinkClientError: Error, Equatable, Sendable {
  /// The connection failed. `code` is `ENOENT` or `ECONNREFUSED` if no server is running, `EACCES`
  /// without permission, and `EAGAIN` if more connections wait than the kernel allows.
  case notReachable(path: String, code: Int32)
  /// The connection ended before the reply; the service may have executed the call.
  case connectionClosed
  /// The server violated the protocol. The connection is closed.
  case protocolViolation(String)
  /// The server replied with an error.
  case remote(VarlinkError)
  /// The parameters cannot be represented in JSON.
  case invalidParameters(String)
  /// The reply's parameters do not have the expected type. The connection can still be used.
  case unexpectedReply(String)
  /// The calling task was cancelled. Varlink has no other way to cancel a call, so the connection
  /// is closed.
  case cancelled
}
