import Glibc

/// A place where a daemon may listen.
package struct SocketPlace: Equatable, Sendable {
  /// Path of the control socket.
  package var control: String
  /// Path of the ingest socket, which is beside it.
  package var ingest: String

  package static let controlName = "io.livehost.Control"
  package static let ingestName = "ingest"
  /// Where the system's daemon listens.
  package static let service = SocketPlace(directory: "/run/livehost")

  package init(directory: String) {
    control = "\(directory)/\(Self.controlName)"
    ingest = "\(directory)/\(Self.ingestName)"
  }

  /// A path that was named: of the control socket, or of the directory that it is in.
  init(named path: String) {
    let isDirectory = FileKind(path: path) == .directory
    self.init(directory: isDirectory ? path : Paths.directory(of: path))
    if !isDirectory { control = path }
  }

  /// The places to try, in order: a named one alone, else the user's own daemon, else the system's.
  package static func candidates(option: String?, _ surroundings: Surroundings) -> [SocketPlace] {
    if let named = option ?? surroundings.variable("LIVEHOST_SOCKET") {
      return [SocketPlace(named: named)]
    }
    let own =
      surroundings.variable("XDG_RUNTIME_DIR").map { "\($0)/livehost" }
      ?? "/tmp/livehost-\(surroundings.userID)"
    return [SocketPlace(directory: own), service].filter { place in
      // Anybody can make a directory in /tmp that bears our name.
      isTrusted(Paths.directory(of: place.control), surroundings.userID)
    }
  }

  private static func isTrusted(_ directory: String, _ userID: UInt32) -> Bool {
    var status = stat()
    // What is missing is not to be feared, and an error names it.
    guard lstat(directory, &status) == 0, !directory.hasPrefix("/run/") else { return true }
    return status.st_uid == userID || status.st_uid == 0
  }
}

/// What stands at a path.
enum FileKind {
  case regular, directory, socket, other

  /// Nil if nothing does, or nothing that can be looked at. Follows links.
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
