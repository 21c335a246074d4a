package import JSON

/// What the program ends with; the numbers of sysexits(3) where there is one.
package enum ExitStatus: Int32, Sendable, CaseIterable {
  case done = 0
  case failed = 1
  case usage = 64
  /// A recording or an event that cannot be taken.
  case badData = 65
  /// The daemon is not running, or not to be found.
  case notReachable = 69
  case notPermitted = 77
  /// A configuration or scenario file that is wrong.
  case configuration = 78
  case thresholdsNotMet = 99
  /// Ended by Ctrl-C, as shells count it.
  case interrupted = 130

  /// The name in JSON output.
  package var name: String { String(describing: self) }
}

/// Why a verb did not do what it was asked: the exit code, and what to tell.
package struct Failure: Error, Equatable, Sendable {
  package var status: ExitStatus
  package var message: String
  /// Further members of the error in JSON output.
  package var details: [JSONName: JSONValue]

  package init(_ status: ExitStatus, _ message: String, details: [JSONName: JSONValue] = [:]) {
    self.status = status
    self.message = message
    self.details = details
  }

  /// Interrupted with nothing more to tell: nothing is printed.
  package static let interrupted = Failure(.interrupted, "interrupted")
}

/// Standard output was closed by its reader, which has seen enough: the end, but no failure.
package struct OutputClosed: Error { package init() {} }
