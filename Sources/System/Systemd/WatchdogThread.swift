package import SystemSupport

/// Runs a ``WatchdogDriver`` on a dedicated thread, so that a blocked thread does not block its own
/// detection.
package final class WatchdogThread: Sendable {
  private let stopSignal: WakeSignal

  /// The longest time between two checks, in nanoseconds.
  package static let longestPeriod: UInt64 = 1_000_000_000

  /// Starts checking the threads: immediately, then four times per interval, but at least once per
  /// second.
  ///
  /// - Parameters:
  ///   - interval: The manager's interval, or `nil` if it has no watchdog.
  ///   - onSilence: Called on the watchdog's thread at each check that finds silent threads, and
  ///     with an empty list at the first check after which all threads answer again.
  ///   - onError: Called on the watchdog's thread when the service manager could not be notified.
  package init(
    _ driver: WatchdogDriver, interval: WatchdogInterval?,
    onSilence: @escaping @Sendable ([WatchdogDriver.SilentThread]) -> Void = { _ in },
    onError: @escaping @Sendable (SystemError) -> Void = { _ in }
  ) throws(SystemError) {
    let signal = try WakeSignal()
    stopSignal = signal
    try ServiceThread.start(name: "watchdog") {
      var driver = driver
      var wasSilent = false
      let period = min(interval?.checkPeriodNanoseconds ?? .max, Self.longestPeriod)
      repeat {
        do throws(SystemError) {
          let silent = try driver.tick(now: MonotonicClock.nanoseconds())
          if !silent.isEmpty || wasSilent { onSilence(silent) }
          wasSilent = !silent.isEmpty
        } catch {
          onError(error)
        }
      } while !signal.wait(nanoseconds: period)
    }
  }

  /// Makes the thread end soon. Afterwards, nothing feeds the watchdog. May be called twice.
  package func stop() { stopSignal.raise() }

  deinit { stopSignal.raise() }
}
