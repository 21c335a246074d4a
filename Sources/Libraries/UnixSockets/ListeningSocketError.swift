/// The reason why listening on a Unix socket failed.
package enum ListeningSocketError: Error, Hashable {
  /// Another process accepts connections at this path.
  case socketInUse(path: String)
  /// The file at this path is not a socket.
  case notASocket(path: String)
  /// The path is longer than a socket address allows.
  case pathTooLong(path: String, maximum: Int)
  /// The directory of the path does not exist.
  case directoryMissing(path: String)
  /// This user has no write permission for the directory of the path.
  case notPermitted(path: String)
  /// Another user replaced the file at the path immediately after the socket was bound.
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
    case .notASocket(let path): "\(path): a file that is not a socket exists there"
    case .pathTooLong(let path, let maximum):
      "\(path): is longer than \(maximum) bytes, the maximum for a socket path"
    case .directoryMissing(let path): "\(path): its directory does not exist"
    case .notPermitted(let path): "\(path): its directory is not writable"
    case .exchanged(let path):
      "\(path): another user replaced the socket; only its owner may have write access to the directory"
    case .notListening(let descriptor):
      "file descriptor \(descriptor) is not a listening stream socket"
    case .system(let call, let code, let path): "\(path): \(call) failed with error \(code)"
    }
  }
}
