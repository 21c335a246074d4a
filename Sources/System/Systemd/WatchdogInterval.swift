import CSystemd
package import Platform

/// How often the service manager wants to be fed (`WatchdogSec=`).
package struct WatchdogInterval: Sendable, Equatable {
  /// After this time without `WATCHDOG=1` the manager ends the service, in microseconds.
  package let microseconds: UInt64

  /// Creates an interval; `microseconds` must be positive, else 1 is taken.
  package init(microseconds: UInt64) {
    self.microseconds = max(1, microseconds)
  }

  /// How often to look at the lanes: a quarter of the interval, in nanoseconds. A ping sent at one
  /// look is answered before the next, so that lanes in good health are fed for each quarter and
  /// a lane that blocks for the whole interval is always noticed.
  package var checkPeriodNanoseconds: UInt64 {
    let (nanoseconds, overflow) = microseconds.multipliedReportingOverflow(by: 250)
    return overflow ? .max : nanoseconds
  }

  /// The interval that the manager set for this process in `WATCHDOG_USEC` and `WATCHDOG_PID`;
  /// nil if it wants none.
  ///
  /// - Throws: `EINVAL` if the variables make no sense.
  package static func fromEnvironment() throws(SystemError) -> WatchdogInterval? {
    var microseconds: UInt64 = 0
    let result = sd_watchdog_enabled(0, &microseconds)
    if result < 0 { throw SystemError(.readWatchdogInterval, code: result) }
    return result == 0 ? nil : WatchdogInterval(microseconds: microseconds)
  }
}
