package import Systemd

/// Decides which silent threads have stalled, and when the log mentions them: when one stalls, and again
/// each time that it has been silent for as long once more.
///
/// A value; time comes with what it is told.
package struct StallWatch: Sendable {
  /// How long a thread may be silent, in nanoseconds.
  package let patience: UInt64
  /// How often the patience was over for the threads that have stalled.
  private var counts: [String: UInt64] = [:]

  package init(patience: UInt64) { self.patience = patience }

  /// The patience that goes with the manager's interval: a quarter of it, but not above ten seconds.
  package init(_ interval: WatchdogInterval?) {
    self.init(
      patience: min(interval?.checkPeriodNanoseconds ?? .max, 10_000_000_000))
  }

  /// Takes the threads that are silent at a check. Returns those that have stalled, and those among
  /// them that are to be mentioned.
  package mutating func note(
    _ silent: [WatchdogDriver.SilentThread]
  ) -> (stalled: [WatchdogDriver.SilentThread], mentioned: [WatchdogDriver.SilentThread]) {
    let stalled = silent.filter { $0.nanoseconds >= patience }
    let before = counts
    counts = [:]
    for thread in stalled { counts[thread.name] = thread.nanoseconds / patience }
    return (stalled, stalled.filter { counts[$0.name] != before[$0.name] })
  }
}
