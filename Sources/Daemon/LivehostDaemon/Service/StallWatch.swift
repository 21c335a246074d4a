package import Systemd

/// Decides which silent threads have stalled, and when to log them.
///
/// A thread is logged when it stalls, and again after each further ``patience``. ``StallWatch``
/// reads no clock; the durations are passed in.
package struct StallWatch: Sendable {
  /// How long a thread may be silent before it counts as stalled, in nanoseconds.
  package let patience: UInt64
  /// For each stalled thread, how many whole patience periods it has been silent.
  private var counts: [String: UInt64] = [:]

  package init(patience: UInt64) { self.patience = patience }

  /// Derives the patience from the watchdog interval: a quarter of the interval, but at most ten
  /// seconds.
  package init(_ interval: WatchdogInterval?) {
    self.init(
      patience: min(interval?.checkPeriodNanoseconds ?? .max, 10_000_000_000))
  }

  /// Records the threads that are silent at a check. Returns the threads that have stalled, and the
  /// stalled threads that must be logged now.
  package mutating func update(
    _ silent: [WatchdogDriver.SilentThread]
  ) -> (stalled: [WatchdogDriver.SilentThread], mentioned: [WatchdogDriver.SilentThread]) {
    let stalled = silent.filter { $0.nanoseconds >= patience }
    let before = counts
    counts = [:]
    for thread in stalled { counts[thread.name] = thread.nanoseconds / patience }
    return (stalled, stalled.filter { counts[$0.name] != before[$0.name] })
  }
}
