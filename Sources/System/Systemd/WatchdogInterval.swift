import CSystemd
package import SystemSupport

/// The interval of the service manager's watchdog (`WatchdogSec=`).
package struct WatchdogInterval: Sendable, Equatable {
  /// The time in microseconds without `WATCHDOG=1` after which the manager ends the service.
  package let microseconds: UInt64

  /// Creates an interval of at least 1 microsecond.
  package init(microseconds: UInt64) {
    self.microseconds = max(1, microseconds)
  }

  /// The period between checks of the lanes, in nanoseconds: a quarter of the interval. A healthy
  /// lane answers a ping before the next check, so each check feeds the watchdog. A lane that
  /// blocks for the whole interval is always noticed.
  package var checkPeriodNanoseconds: UInt64 {
    let (nanoseconds, overflow) = microseconds.multipliedReportingOverflow(by: 250)
    return overflow ? .max : nanoseconds
  }

  /// Returns the interval that the service manager set for this process with `WATCHDOG_USEC` and
  /// `WATCHDOG_PID`, if any. Throws `EINVAL` if the variables are invalid.
  package static func fromEnvironment() throws(SystemError) -> WatchdogInterval? {
    var microseconds: UInt64 = 0
    let result = sd_watchdog_enabled(0, &microseconds)
    if result < 0 { throw SystemError(.readWatchdogInterval, code: result) }
    return result == 0 ? nil : WatchdogInterval(microseconds: microseconds)
  }
}
