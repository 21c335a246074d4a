import Glibc

/// Invariants that cost more time to check than to maintain.
///
/// They are checked only in tests and in the simulated daemon, which set
/// `LIVEHOST_CHECK_INVARIANTS`. All other invariants are preconditions.
package enum Invariants {
  private static let areChecked = getenv("LIVEHOST_CHECK_INVARIANTS") != nil

  /// Ends the process if an invariant does not hold.
  package static func check(
    _ holds: @autoclosure () -> Bool, _ invariant: @autoclosure () -> String,
    file: StaticString = #fileID, line: UInt = #line
  ) {
    if areChecked { precondition(holds(), invariant(), file: file, line: line) }
  }
}
