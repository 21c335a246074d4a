/// Why a source ends. Never carries a secret.
package enum SourceError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The platform does not accept the credentials; trying again would not help.
  case refused(String)
  /// There is no daemon, or there has been none for too long.
  case daemonGone(path: String, reason: String)
  /// The daemon's socket may not be used.
  case notPermitted(path: String)
  /// It cannot listen for its peers at an address.
  case cannotListen(address: String, reason: String)
  case unreadableSecret(path: String, reason: String)
  case unwritableSecret(path: String, reason: String)
  /// A certificate or key file is not usable.
  case certificateFile(path: String, reason: String)

  package var description: String {
    switch self {
    case .refused(let reason): reason
    case .daemonGone(let path, let reason): "livehostd cannot be reached at \(path): \(reason)"
    case .notPermitted(let path):
      "\(path): permission denied; join the group livehost, or run your own livehostd"
    case .cannotListen(let address, let reason): "cannot listen at \(address): \(reason)"
    case .unreadableSecret(let path, let reason): "\(path): cannot read the secret: \(reason)"
    case .unwritableSecret(let path, let reason): "\(path): cannot write the login: \(reason)"
    case .certificateFile(let path, let reason): "\(path): cannot use the certificates: \(reason)"
    }
  }

  /// What a program that ends because of it exits with.
  package var exitCode: Int32 {
    switch self {
    case .refused, .notPermitted: 77
    case .daemonGone: 69
    case .cannotListen: 1
    case .unreadableSecret, .unwritableSecret, .certificateFile: 78
    }
  }
}
