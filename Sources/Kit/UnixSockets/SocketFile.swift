import Glibc

/// A file made by binding a socket.
public struct SocketFile: Sendable {
  /// Tells one file at a path from the next. The number of a file that is gone is used again, so the
  /// time of its making counts too.
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

  public let path: String
  private let identity: Identity

  /// `nil` if the file is gone already.
  init?(_ path: String) {
    guard let identity = Identity(path) else { return nil }
    self.path = path
    self.identity = identity
  }

  /// Removes the file, unless another took its place.
  public func remove() {
    if Identity(path) == identity { _ = unlink(path) }
  }
}
