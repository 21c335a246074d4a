import Foundation
import Glibc

/// A lock on the state directory that excludes a second daemon.
///
/// Two daemons would each mistake the other's rooms and recordings for the state of an earlier run.
/// The lock is released when the value is destroyed or the process ends.
struct StateLock: ~Copyable {
  private let descriptor: Int32

  /// Creates the directory if it is missing, and locks it. A directory that the service manager
  /// created (`isManaged`) may be a symbolic link.
  ///
  /// A directory that cannot be created or opened stays unlocked. Nothing can be saved in it, and
  /// the parts that need it report this.
  ///
  /// - Throws: ``DaemonError`` if another process holds the lock or other users can change the
  ///   directory.
  init(_ directory: String, isManaged: Bool) throws(DaemonError) {
    try? FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o750])
    descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // If a file has the directory's name, the daemon runs without saved state.
    let isFile = descriptor < 0 && errno == ENOTDIR
    if !isManaged, !isFile,
      let problem = DirectorySafety.problem(at: directory, option: "--state-dir")
    {
      throw .stateDirectory(directory, problem)
    }
    guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK else {
      return
    }
    throw .stateDirectory(
      directory,
      "is in use by another livehostd; stop it, or choose another directory with --state-dir")
  }

  deinit { if descriptor >= 0 { close(descriptor) } }
}
