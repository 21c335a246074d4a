import Glibc

/// A socket file that this process made.
struct SocketFile: Sendable {
  let path: String
  private let device: dev_t
  private let inode: ino_t

  init?(path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    self.path = path
    device = status.st_dev
    inode = status.st_ino
  }

  /// Removes the file, unless another one has taken its place.
  func remove() {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_dev == device, status.st_ino == inode else { return }
    unlink(path)
  }
}

/// Makes or checks the listening socket of a server.
///
/// By hand rather than by the event loop's bootstrap, which removes a socket file even if a living
/// server listens there, and leaves the file's mode to the umask.
enum ListeningSocket {
  typealias StartError = VarlinkServer.StartError

  static func open(
    _ address: VarlinkServer.Address
  ) throws(StartError) -> (socket: CInt, file: SocketFile?) {
    switch address {
    case .listening(let socket):
      var isListening: CInt = 0
      var length = socklen_t(MemoryLayout<CInt>.size)
      guard getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length) == 0,
        isListening != 0
      else { throw .badDescriptor(socket) }
      return (socket, nil)
    case .path(let path, let mode):
      try clear(path)
      return try bindAndListen(path, mode: mode)
    }
  }

  /// Removes the socket file of a server that is gone.
  private static func clear(_ path: String) throws(StartError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path: path) }
    let probe = try makeSocket(path)
    defer { close(probe) }
    if try withAddress(path, { connect(probe, $0, $1) }) == 0 { throw .inUse(path: path) }
    // Refused means that nobody listens. Anything else (no permission, a full backlog) may be a
    // living server, and its file is not ours to remove.
    guard errno == ECONNREFUSED else { throw .inUse(path: path) }
    unlink(path)
  }

  private static func bindAndListen(
    _ path: String, mode: UInt32
  ) throws(StartError) -> (socket: CInt, file: SocketFile?) {
    let socket = try makeSocket(path)
    func fail(_ call: String) -> StartError {
      let code = errno
      close(socket)
      return code == EADDRINUSE
        ? .inUse(path: path) : .system(path: path, call: call, code: code)
    }
    guard try withAddress(path, { bind(socket, $0, $1) }) == 0 else { throw fail("bind") }
    let file = SocketFile(path: path)
    // Between bind and listen nobody can connect, so the mode is right before the first client.
    guard chmod(path, mode) == 0 else {
      file?.remove()
      throw fail("chmod")
    }
    guard listen(socket, 128) == 0 else {
      file?.remove()
      throw fail("listen")
    }
    return (socket, file)
  }

  private static func makeSocket(_ path: String) throws(StartError) -> CInt {
    let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    let socket = Glibc.socket(AF_UNIX, type, 0)
    if socket < 0 { throw .system(path: path, call: "socket", code: errno) }
    return socket
  }

  private static func withAddress(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
  ) throws(StartError) -> CInt {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    // One byte stays zero and ends the path.
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
      throw .pathTooLong(path: path)
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
