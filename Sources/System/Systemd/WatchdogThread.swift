package import Platform

/// Runs a ``WatchdogDriver`` on a thread of its own, so that a blocked lane cannot hide itself.
package final class WatchdogThread: Sendable {
  private let stopSignal: WakeSignal

  /// Starts checking the lanes: at once, and then four times per interval.
  ///
  /// - Parameters:
  ///   - driver: What to do at each check.
  ///   - interval: The manager's interval.
  ///   - onStall: Called on the watchdog's thread at each check at which lanes are silent, and
  ///     without any at the first check at which all of them answer again.
  ///   - onError: Called on the watchdog's thread when the service manager could not be notified.
  package init(
    _ driver: WatchdogDriver, interval: WatchdogInterval,
    onStall: @escaping @Sendable ([WatchdogDriver.StalledLane]) -> Void = { _ in },
    onError: @escaping @Sendable (SystemError) -> Void = { _ in }
  ) throws(SystemError) {
    let signal = try WakeSignal()
    stopSignal = signal
    try ServiceThread.start(name: "watchdog") {
      var driver = driver
      var wasStalled = false
      repeat {
        do throws(SystemError) {
          let stalled = try driver.tick(now: MonotonicClock.nanoseconds())
          if !stalled.isEmpty || wasStalled { onStall(stalled) }
          wasStalled = !stalled.isEmpty
        } catch {
          onError(error)
        }
      } while !signal.wait(nanoseconds: interval.checkPeriodNanoseconds)
    }
  }

  /// Ends the thread soon; the watchdog is fed no more. May be called twice.
  package func stop() { stopSignal.raise() }

  deinit { stopSignal.raise() }
}
