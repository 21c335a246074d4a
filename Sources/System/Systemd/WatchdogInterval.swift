import CSystemd
package import Platform

/// How often the service manager must hear from the service (`WatchdogSec=`).
package struct WatchdogInterval: Sendable, Equatable {
  /// The time in microseconds without `WATCHDOG=1` after which the manager ends the service.
  package let microseconds: UInt64

  /// Creates an interval; values below 1 are taken as 1.
  package init(microseconds: UInt64) {
    self.microseconds = max(1, microseconds)
  }

  /// How often to check the lanes: every quarter of the interval, in nanoseconds. A healthy lane
  /// answers a ping before the next check, so the watchdog is fed at each check, and a lane that
  /// blocks for the whole interval is always noticed.
  package var checkPeriodNanoseconds: UInt64 {
    let (nanoseconds, overflow) = microseconds.multipliedReportingOverflow(by: 250)
    return overflow ? .max : nanoseconds
  }

  /// The interval that the service manager set for this process by `WATCHDOG_USEC` and
  /// `WATCHDOG_PID`; nil if it set none.
  ///
  /// - Throws: `EINVAL` if the variables make no sense.
  package static func fromEnvironment() throws(SystemError) -> WatchdogInterval? {
    var microseconds: UInt64 = 0
    let result = sd_watchdog_enabled(0, &microseconds)
    if result < 0 { throw SystemError(.readWatchdogInterval, code: result) }
    return result == 0 ? nil : WatchdogInterval(microseconds: microseconds)
  }
}
