/// Why a Unix socket cannot be listened on.
package enum ListeningSocketError: Error, Hashable {
  /// Another process accepts connections at this path.
  case socketInUse(path: String)
  /// The file at this path is not a socket.
  case notASocket(path: String)
  /// The path is longer than a socket's address allows.
  case pathTooLong(path: String, maximum: Int)
  /// The directory of the path does not exist.
  case directoryMissing(path: String)
  /// The directory of the path may not be written by this user.
  case notPermitted(path: String)
  /// Somebody put something else at the path as soon as the socket was there.
  case exchanged(path: String)
  /// An inherited descriptor is not a listening stream socket.
  case notListening(descriptor: Int32)
  /// A system call failed.
  case system(call: String, code: Int32, path: String)
}

extension ListeningSocketError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .socketInUse(let path): "\(path): another process listens on this socket"
    case .notASocket(let path): "\(path): exists and is not a socket"
    case .pathTooLong(let path, let maximum):
      "\(path): longer than the \(maximum) bytes that a socket's path may have"
    case .directoryMissing(let path): "\(path): its directory does not exist"
    case .notPermitted(let path): "\(path): its directory cannot be written"
    case .exchanged(let path):
      "\(path): another user replaced the socket; its directory must be writable by its owner only"
    case .notListening(let descriptor):
      "file descriptor \(descriptor) is not a listening stream socket"
    case .system(let call, let code, let path): "\(path): \(call) failed with error \(code)"
    }
  }
}
