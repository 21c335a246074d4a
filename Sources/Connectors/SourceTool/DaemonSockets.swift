import Glibc

/// The paths of a daemon's sockets.
package struct DaemonSockets: Equatable, Sendable {
  package var ingest: String
  package var control: String

  private init(directory: String) {
    ingest = directory + "/ingest"
    control = directory + "/io.livehost.Control"
  }

  /// Finds the sockets for a source that is started manually, in the same order as `livehostctl`:
  /// the given paths, the sockets at `LIVEHOST_SOCKET`, the sockets of the user's own daemon if it
  /// runs, and the system service's sockets.
  package static func find(
    ingest: String?, control: String?, environment: [String: String] = processEnvironment,
    user: UInt32 = getuid()
  ) -> DaemonSockets {
    var sockets = standing(environment, user)
    if let given = ingest ?? control {
      let beside = DaemonSockets(directory: directory(of: given))
      if exists(beside.ingest) { sockets.ingest = beside.ingest }
      if exists(beside.control) { sockets.control = beside.control }
    }
    if let ingest { sockets.ingest = ingest }
    if let control { sockets.control = control }
    return sockets
  }

  private static func exists(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0
  }

  private static func standing(_ environment: [String: String], _ user: UInt32) -> DaemonSockets {
    func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    if let named = variable("LIVEHOST_SOCKET") {
      var status = stat()
      let isDirectory = stat(named, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      var sockets = DaemonSockets(directory: isDirectory ? named : directory(of: named))
      if !isDirectory { sockets.control = named }
      return sockets
    }
    let own = variable("XDG_RUNTIME_DIR").map { $0 + "/livehost" } ?? "/tmp/livehost-\(user)"
    let sockets = DaemonSockets(directory: own)
    var status = stat()
    // Anyone can create a directory with this name in /tmp.
    let isTrusted =
      lstat(own, &status) == 0
      && (own.hasPrefix("/run/") || status.st_uid == user || status.st_uid == 0)
    return isTrusted && exists(sockets.ingest) ? sockets : DaemonSockets(directory: "/run/livehost")
  }

  private static func directory(of path: String) -> String {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    return parts.isEmpty
      ? "." : parts.count == 1 && parts.first == "" ? "/" : parts.joined(separator: "/")
  }

  package static var processEnvironment: [String: String] {
    var variables: [String: String] = [:]
    for name in ["LIVEHOST_SOCKET", "XDG_RUNTIME_DIR"] {
      if let value = getenv(name) { variables[name] = String(cString: value) }
    }
    return variables
  }
}
