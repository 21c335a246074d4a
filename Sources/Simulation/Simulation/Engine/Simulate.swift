package import HostScreen
import YAMLReader

/// The result of a simulation: its report and, if requested, a trace.
package struct SimulationOutcome: Sendable {
  package var report: SimulationReport
  /// Chrome trace JSON.
  package var trace: String?
}

/// Runs a scenario: every variant on every device.
///
/// Yields to other tasks about once per millisecond of work, and ends early if its task is
/// cancelled. The result depends on nothing but the scenario, the files that it names and the
/// options: the same input gives the same report, byte for byte.
///
/// - Parameter progress: Called with the percentage done, from 1 to 100, at most once for each
///   value.
/// - Throws: ``ConfigurationError`` before anything ran; `CancellationError`.
package func simulate(
  scenarioText: String, options: SimulationOptions, progress: (_ percent: Int) -> Void = { _ in }
) async throws -> SimulationOutcome {
  let scenario = try Scenario(scenarioText, options)
  return try await simulate(scenario, wantsTrace: options.wantsTrace, progress: progress)
}

/// Runs a scenario that has already been read.
package func simulate(
  _ scenario: Scenario, wantsTrace: Bool = false, progress: (_ percent: Int) -> Void = { _ in }
) async throws -> SimulationOutcome {
  let trace = wantsTrace ? TraceRecorder() : nil
  let count = scenario.devices.count * scenario.variants.count
  var runs: [RunReport] = []
  var reported = 0
  func reportProgress(_ run: SimulatedRun?) {
    let part = run.map { $0.time.nanoseconds / max(1, scenario.duration.nanoseconds / 1_000) } ?? 0
    let percent = (runs.count * 1_000 + Int(part)) / (10 * count)
    if percent > reported {
      reported = percent
      progress(min(percent, 100))
    }
  }
  for device in scenario.devices {
    for variant in scenario.variants {
      let run = SimulatedRun(scenario, device, variant, trace: trace)
      while run.advance(work: SimulationSlice.work) {
        reportProgress(run)
        try Task.checkCancellation()
        await Task.yield()
      }
      runs.append(run.report())
      reportProgress(nil)
    }
  }
  let report = SimulationReport(
    version: simulatorVersion, scenario: scenario.name, seed: scenario.seed,
    duration: scenario.duration,
    parameters: scenario.parameters.map { .init(key: $0.key, value: $0.value) }, runs: runs,
    thresholds: scenario.thresholds.map { $0.check(runs) })
  return SimulationOutcome(report: report, trace: trace?.text)
}

/// The screen at the end of the scenario's first run (first variant, first device), for comparison
/// with a screen that received the same events.
package func simulatedScreen(_ scenario: Scenario) -> HostScreen? {
  guard let device = scenario.devices.first, let variant = scenario.variants.first else {
    return nil
  }
  let run = SimulatedRun(scenario, device, variant, trace: nil)
  while run.advance(work: SimulationSlice.work) {}
  return run.screen
}

/// Version of the simulator. It must be raised with every change to what the same input gives.
package let simulatorVersion = "0.2.0"

enum SimulationSlice {
  /// Units of work between two yields. A unit takes up to a microsecond.
  static let work = 1_000
}
