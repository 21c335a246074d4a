import Glibc

/// A file created by binding a socket.
package struct SocketFile: Sendable {
  /// Distinguishes a file at a path from its successors. Inode numbers are reused, so the time of
  /// creation counts as well.
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

  /// `nil` if the file is already gone.
  init?(_ path: String) {
    guard let identity = Identity(path) else { return nil }
    self.path = path
    self.identity = identity
  }

  /// Removes the file, unless it has been replaced by another.
  package func remove() {
    if Identity(path) == identity { _ = unlink(path) }
  }
}
