import Glibc

/// The destination of log lines.
package enum LogDestination: Sendable, Equatable {
  /// Standard error is connected to the journal, so structured entries are written there.
  case journal
  /// The program was started manually, so readable lines are written to standard error.
  case console

  /// Returns the journal if `JOURNAL_STREAM` identifies the file that standard error is connected
  /// to, as systemd.exec(5) recommends, and otherwise the console. The variable alone does not
  /// suffice: a shell started by a service passes it on to programs with other outputs.
  package static func detect() -> LogDestination {
    var status = stat()
    guard fstat(STDERR_FILENO, &status) == 0 else { return .console }
    let stream = getenv("JOURNAL_STREAM").map { String(cString: $0) }
    return detect(
      journalStream: stream, device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }

  /// Decides from the values of the check. `journalStream` is `device:inode` in decimal.
  package static func detect(
    journalStream: String?, device: UInt64, inode: UInt64
  ) -> LogDestination {
    guard let parts = journalStream?.split(separator: ":", omittingEmptySubsequences: false),
      parts.count == 2, UInt64(parts[0]) == device, UInt64(parts[1]) == inode
    else { return .console }
    return .journal
  }
}
