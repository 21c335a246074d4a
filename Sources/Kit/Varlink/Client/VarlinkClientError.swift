/// Why a call of a client gave no reply.
package enum VarlinkClientError: Error, Equatable, Sendable {
  /// No connection could be made; `code` is the `errno`: `ENOENT` or `ECONNREFUSED` if no server
  /// is there, `EACCES` if this user may not connect, `EAGAIN` if more connections wait for it than the kernel keeps.
  case notReachable(path: String, code: Int32)
  /// The connection ended before the reply. Whether the call was carried out is not known.
  case connectionClosed
  /// The server broke the protocol; the connection is closed.
  case protocolViolation(String)
  /// The server replied with an error.
  case remote(VarlinkError)
  /// The parameters have no JSON form.
  case invalidParameters(String)
  /// The reply's parameters are not of the type expected. The connection is in order.
  case unexpectedReply(String)
  /// The calling task was cancelled. Varlink has no other way to call off a call, so the
  /// connection is closed.
  case cancelled
}
