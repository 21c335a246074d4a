import Foundation
import Glibc

/// Keeps a second daemon out of the same state directory: each would take the other's rooms and
/// recordings for those of its own last run. Released when it is dropped, or when the process ends.
struct StateLock: ~Copyable {
  private let descriptor: Int32

  /// Makes the directory if it is missing. One that cannot be made or opened is not locked: nothing can
  /// be saved in it, which is reported where that matters.
  ///
  /// - Parameter isManaged: The service manager made the directory, so that it may be a link.
  /// - Throws: ``DaemonError`` if another process holds the lock, or others can change the directory.
  init(_ directory: String, isManaged: Bool) throws(DaemonError) {
    try? FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o750])
    descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // A file in its place costs only the saved state.
    let isFile = descriptor < 0 && errno == ENOTDIR
    if !isManaged, !isFile, let problem = OwnDirectory.problem(at: directory, option: "--state-dir")
    {
      throw .stateDirectory(directory, problem)
    }
    guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK else {
      return
    }
    throw .stateDirectory(
      directory, "is in use by another livehostd; stop that or choose another one with --state-dir")
  }

  deinit { if descriptor >= 0 { close(descriptor) } }
}
