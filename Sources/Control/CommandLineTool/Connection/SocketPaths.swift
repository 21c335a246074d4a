import Glibc

/// The paths of a daemon's sockets. The sockets need not exist.
package struct SocketPaths: Equatable, Sendable {
  package var control: String
  /// The path of the ingest socket, in the directory of the control socket.
  package var ingest: String

  package static let controlName = "io.livehost.Control"
  package static let ingestName = "ingest"
  /// The sockets of the system service.
  package static let service = SocketPaths(directory: "/run/livehost")

  /// The directory with the sockets of the system's cluster gateway.
  static let gateway = "/run/livehost-gateway"

  package init(directory: String) {
    control = "\(directory)/\(Self.controlName)"
    ingest = "\(directory)/\(Self.ingestName)"
  }

  /// Derives the socket paths from a path given by the user, which names either the control socket
  /// or its directory.
  init(named path: String) {
    let isDirectory = FileKind(path: path) == .directory
    self.init(directory: isDirectory ? path : Paths.directory(of: path))
    if !isDirectory { control = path }
  }

  /// Returns the sockets to try, in order: only those named by the user, or else those of the
  /// user's own daemon and then those of the system service.
  package static func candidates(option: String?, _ environment: ProcessEnvironment)
    -> [SocketPaths]
  {
    if let named = option ?? environment.variable("LIVEHOST_SOCKET") {
      return [SocketPaths(named: named)]
    }
    let own =
      environment.variable("XDG_RUNTIME_DIR").map { "\($0)/livehost" }
      ?? "/tmp/livehost-\(environment.userID)"
    return [SocketPaths(directory: own), service].filter { sockets in
      // Any user can create a directory in /tmp, so a socket is trusted only if this user or root
      // owns its directory.
      isTrusted(Paths.directory(of: sockets.control), environment.userID)
    }
  }

  private static func isTrusted(_ directory: String, _ userID: UInt32) -> Bool {
    var status = stat()
    // A missing directory is no risk, and the later attempt to connect fails with an error that
    // names the path.
    guard lstat(directory, &status) == 0, !directory.hasPrefix("/run/") else { return true }
    return status.st_uid == userID || status.st_uid == 0
  }
}

enum FileKind {
  case regular, directory, socket, other

  /// Examines the file at a path, following links. Fails if the file does not exist or cannot be
  /// examined.
  init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    switch status.st_mode & S_IFMT {
    case S_IFREG: self = .regular
    case S_IFDIR: self = .directory
    case S_IFSOCK: self = .socket
    default: self = .other
    }
  }
}
