import Glibc
import Locking
import SystemSupport

/// A Unix stream socket that accepts connections, bound here or inherited.
///
/// The socket is set up manually, because an event loop's bootstrap would remove a socket file even
/// if a running server listens on it, and would leave the file's mode to the umask. When this
/// object is released, it closes the socket and removes the socket's file, unless a server has
/// taken the descriptor.
package final class ListeningSocket: Sendable {
  /// The maximum number of connections that wait to be accepted: as large as the kernel allows,
  /// because untrusted clients that fill the queue exclude others.
  package static let backlog: Int32 = 4096

  /// The descriptor, or `nil` after a server has taken it.
  private let descriptor: Guarded<Int32?>
  /// The file of the socket, to be removed at the end; `nil` if the socket was inherited.
  package let file: SocketFile?

  private init(descriptor: Int32, file: SocketFile?) {
    self.descriptor = Guarded(descriptor)
    self.file = file
  }

  deinit {
    guard let descriptor = removeDescriptor() else { return }
    _ = Glibc.close(descriptor)
    file?.remove()
  }

  /// Returns the descriptor, which the caller must close, or `nil` if it was already taken.
  package func removeDescriptor() -> Int32? {
    descriptor.withLock { descriptor in
      defer { descriptor = nil }
      return descriptor
    }
  }

  /// Adopts a socket that is already listening, such as one passed by the service manager.
  package static func adopt(descriptor: Int32) throws(ListeningSocketError) -> ListeningSocket {
    var isListening: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0,
      isListening != 0
    else { throw .notListening(descriptor: descriptor) }
    return ListeningSocket(descriptor: descriptor, file: nil)
  }

  /// Binds a socket at `path` with file mode `mode`, and listens.
  ///
  /// The mode is set through the bound file and not by path, because a user who can write to the
  /// directory could have replaced the path by a link. A file left by a process that has ended is
  /// replaced. If another process listens on the socket, the socket is left alone and the call
  /// throws ``ListeningSocketError/socketInUse(path:)``.
  package static func bind(
    path: String, mode: UInt32 = 0o660
  ) throws(ListeningSocketError) -> ListeningSocket {
    let address: UnixAddress
    do {
      address = try UnixAddress(path)
    } catch {
      throw .pathTooLong(path: path, maximum: UnixAddress.maximumPathBytes)
    }
    try removeStaleFile(at: address)
    let socket = try makeSocket(path)
    // The mode is set before `listen`, so no client can connect earlier.
    guard address.call(Glibc.bind, socket.raw) == 0 else { throw failure("bind", path) }
    try setMode(mode, ofSocketAt: path)
    guard listen(socket.raw, Self.backlog) == 0 else { throw failure("listen", path) }
    return ListeningSocket(descriptor: socket.release(), file: SocketFile(path))
  }

  /// Sets the mode of a socket that this user has bound. If the path is now a link, the target of
  /// the link is never changed.
  package static func setMode(
    _ mode: UInt32, ofSocketAt path: String
  ) throws(ListeningSocketError) {
    // `O_PATH` of open(2) refers to the file itself, even if it is a link or a socket. Glibc
    // declares the flag only for C's GNU dialect.
    let file = open(path, 0o10_000_000 | O_NOFOLLOW | O_CLOEXEC)
    guard file >= 0 else { throw failure("open", path) }
    let descriptor = OwnedDescriptor(file)
    var status = stat()
    guard fstat(descriptor.raw, &status) == 0 else { throw failure("fstat", path) }
    guard status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid() else {
      throw .exchanged(path: path)
    }
    guard chmod("/proc/self/fd/\(descriptor.raw)", mode) == 0 else { throw failure("chmod", path) }
  }

  private static func makeSocket(_ path: String) throws(ListeningSocketError) -> OwnedDescriptor {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let descriptor = socket(AF_UNIX, kind, 0)
    guard descriptor >= 0 else { throw failure("socket", path) }
    return OwnedDescriptor(descriptor)
  }

  private static func removeStaleFile(at address: UnixAddress) throws(ListeningSocketError) {
    let path = address.path
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path: path) }
    let probe = try makeSocket(path)
    // A full backlog (EAGAIN) also means that a server listens. Only a refused connection means
    // that no server listens.
    guard address.call(Glibc.connect, probe.raw) != 0, errno == ECONNREFUSED else {
      throw .socketInUse(path: path)
    }
    guard unlink(path) == 0 || errno == ENOENT else { throw failure("unlink", path) }
  }

  private static func failure(_ call: String, _ path: String) -> ListeningSocketError {
    switch errno {
    case EADDRINUSE: .socketInUse(path: path)
    case ENOENT, ENOTDIR: .directoryMissing(path: path)
    case EACCES, EPERM, EROFS: .notPermitted(path: path)
    case let code: .system(call: call, code: code, path: path)
    }
  }
}

/// A descriptor that is closed automatically.
private struct OwnedDescriptor: ~Copyable {
  let raw: Int32

  init(_ raw: Int32) { self.raw = raw }

  deinit { _ = Glibc.close(raw) }

  consuming func release() -> Int32 {
    let raw = raw
    discard self
    return raw
  }
}
