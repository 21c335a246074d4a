/// The reason why a source ends. Never contains a secret.
package enum SourceError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The platform permanently rejects the credentials.
  case refused(String)
  /// The daemon is not running, or has been unreachable for too long.
  case daemonGone(path: String, reason: String)
  /// The user may not connect to the daemon's socket.
  case notPermitted(path: String)
  case cannotListen(address: String, reason: String)
  case unreadableSecret(path: String, reason: String)
  case unwritableSecret(path: String, reason: String)
  case certificateFile(path: String, reason: String)

  package var description: String {
    switch self {
    case .refused(let reason): reason
    case .daemonGone(let path, let reason): "livehostd cannot be reached at \(path): \(reason)"
    case .notPermitted(let path):
      "\(path): permission denied; join the group livehost, or run your own livehostd"
    case .cannotListen(let address, let reason): "cannot listen on \(address): \(reason)"
    case .unreadableSecret(let path, let reason): "\(path): cannot read the secret: \(reason)"
    case .unwritableSecret(let path, let reason): "\(path): cannot save the login: \(reason)"
    case .certificateFile(let path, let reason): "\(path): cannot use the certificates: \(reason)"
    }
  }

  /// The exit code of a program that ends with this error.
  package var exitCode: Int32 {
    switch self {
    case .refused, .notPermitted: 77
    case .daemonGone: 69
    case .cannotListen: 1
    case .unreadableSecret, .unwritableSecret, .certificateFile: 78
    }
  }
}
