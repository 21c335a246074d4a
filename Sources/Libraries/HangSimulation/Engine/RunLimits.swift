import Wording

/// The memory limits of a run, independent of the scenario.
///
/// Under load, the daemon stops reading from its senders until it has caught up. A simulation
/// cannot slow its senders down, because the scenario fixes the arrival times, so a device that is
/// slower than its events falls behind without limit. A run that exceeds a limit therefore ends
/// with an error. The figures of such a run would describe a stream that no sender could send.
package struct RunLimits: Sendable {
  /// The maximum number of received events that no frame has shown yet; for each such event, 16
  /// bytes are kept to measure its latency.
  package var waiting = 250_000
  /// The maximum number of turns that all runs of a plan keep for thresholds: mainly microhangs and
  /// hangs, 24 bytes each.
  package var recordedTurns = 1_000_000

  /// No limits, for a search that deliberately exceeds a device's capacity and runs in a separate
  /// process.
  package static let none = RunLimits(waiting: .max, recordedTurns: .max)

  /// Returns why a run must end early, with a remedy; `nil` if no limit is exceeded.
  func problem(of run: SimulatedRun) -> SimulationProblem? {
    guard areExceeded(by: run) else { return nil }
    let device = run.device.name
    var advice = run.sliced?.remedy ?? "send fewer events, or make the device faster"
    let excess: String
    if run.collector.waiting > waiting {
      excess =
        "the device '\(device)' cannot keep up: \(Format.count(run.collector.waiting)) events "
        + "wait for a frame"
    } else if let limit = run.sliced?.overload {
      excess = "more than \(Format.count(limit)) events are in flight to '\(device)'"
    } else {
      excess = "'\(device)' hangs too often to record each hang"
      advice = "shorten the duration"
    }
    let seconds = FixedPoint.text(run.time.nanoseconds / 100_000_000, decimals: 1)
    return SimulationProblem(
      description: "\(excess), at \(seconds) s of the variant '\(run.variant.name)'; \(advice)")
  }

  private func areExceeded(by run: SimulatedRun) -> Bool {
    run.collector.waiting > waiting || run.sliced?.overload != nil
      || run.collector.recordedTurns > recordedTurns
  }
}
