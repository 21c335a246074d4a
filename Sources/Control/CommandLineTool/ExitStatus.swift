package import JSON

/// The exit codes of the program. The codes that also exist in sysexits(3) have the same numbers as
/// there.
package enum ExitStatus: Int32, Sendable, CaseIterable {
  case done = 0
  case failed = 1
  case usage = 64
  /// A recording or an event is invalid.
  case badData = 65
  /// The daemon is not running, or its socket was not found.
  case notReachable = 69
  case notPermitted = 77
  case configuration = 78
  case thresholdsNotMet = 99
  /// Interrupted by Ctrl-C. Shells report the same code for a program that SIGINT ended.
  case interrupted = 130

  /// The name of the exit code in JSON output.
  package var name: String { String(describing: self) }
}

/// The error of a verb: an exit code, and a message for the user.
package struct Failure: Error, Equatable, Sendable {
  package var status: ExitStatus
  package var message: String
  /// Additional members of the error in JSON output.
  package var details: [JSONName: JSONValue]

  package init(_ status: ExitStatus, _ message: String, details: [JSONName: JSONValue] = [:]) {
    self.status = status
    self.message = message
    self.details = details
  }

  /// The user interrupted the verb; no message is printed.
  package static let interrupted = Failure(.interrupted, "interrupted")
}

/// The reader of standard output closed it because it needs no more output. The program then ends
/// without an error.
package struct OutputClosed: Error { package init() {} }
