import Glibc

/// A file created by binding a socket.
package struct SocketFile: Sendable {
  /// The identity that distinguishes a file from later files at the same path. Inode numbers are
  /// reused, so the identity includes the time of creation.
  private struct Identity: Equatable, Sendable {
    let device: UInt64
    let number: UInt64
    let seconds: Int
    let nanoseconds: Int

    init?(_ path: String) {
      var status = stat()
      guard lstat(path, &status) == 0 else { return nil }
      device = UInt64(status.st_dev)
      number = UInt64(status.st_ino)
      seconds = status.st_mtim.tv_sec
      nanoseconds = status.st_mtim.tv_nsec
    }
  }

  package let path: String
  private let identity: Identity

  /// Fails if the file was already removed.
  init?(_ path: String) {
    guard let identity = Identity(path) else { return nil }
    self.path = path
    self.identity = identity
  }

  /// Removes the file unless it was replaced by another.
  package func remove() {
    if Identity(path) == identity { _ = unlink(path) }
  }
}
