import Wording

/// What a run may keep, whatever the scenario.
///
/// The daemon does not drop events under load: it reads no further from its senders until it has caught up. In a
/// simulation the scenario says when events come, so nobody can be held back. A device that is slower than its events
/// falls behind without end, and a run that exceeds a limit ends with an error rather than with figures of a stream
/// that no sender could send.
package struct RunLimits: Sendable {
  /// Events that were taken and that no frame has shown yet. Each is kept, in 16 bytes, to measure its latency.
  package var waiting = 250_000
  /// Turns that are kept for thresholds, of all runs of a plan: mainly microhangs and hangs, in 24 bytes each.
  package var keptTurns = 1_000_000

  /// None, for searches that go beyond what a device can do, in a process of their own.
  package static let none = RunLimits(waiting: .max, keptTurns: .max)

  /// Why a run has to end early, and what to do about it; `nil` if it has exceeded none of them.
  func problem(of run: SimulatedRun) -> SimulationProblem? {
    guard areExceeded(by: run) else { return nil }
    let device = run.device.name
    var advice = run.sliced?.remedy ?? "let fewer events come, or make the device faster"
    let excess: String
    if run.collector.waiting > waiting {
      excess =
        "the device '\(device)' cannot keep up: \(Format.count(run.collector.waiting)) events "
        + "wait for a frame"
    } else if let limit = run.sliced?.overload {
      excess = "more than \(Format.count(limit)) events are on their way to '\(device)'"
    } else {
      excess = "'\(device)' hangs too often to keep account of each hang"
      advice = "shorten the duration"
    }
    let seconds = FixedPoint.text(run.time.nanoseconds / 100_000_000, decimals: 1)
    return SimulationProblem(
      description: "\(excess), at \(seconds) s of the variant '\(run.variant.name)'; \(advice)")
  }

  private func areExceeded(by run: SimulatedRun) -> Bool {
    run.collector.waiting > waiting || run.sliced?.overload != nil
      || run.collector.keptTurns > keptTurns
  }
}
