package import HangSimulation
import HostFeature
package import HostScreen
import YAMLReader

/// Runs every variant of a scenario on every device. The result depends only on the scenario, the
/// files that it refers to, and the options.
///
/// - Parameter progress: Called with the percentage done, from 1 to 100, at most once for each
///   value.
/// - Throws: ``ConfigurationError`` before anything runs, or if too many events wait for a device
///   that is too slow; `CancellationError`.
package func simulate(
  scenarioText: String, options: SimulationOptions, progress: (_ percent: Int) -> Void = { _ in }
) async throws -> SimulationOutcome {
  let scenario = try Scenario(scenarioText, options)
  do {
    return try await simulate(scenario, wantsTrace: options.wantsTrace, progress: progress)
  } catch let problem as SimulationProblem {
    // The error names the scenario file, because the problem must be corrected there.
    throw ConfigurationError(file: options.path, message: problem.description)
  }
}

package func simulate(
  _ scenario: Scenario, wantsTrace: Bool = false, progress: (_ percent: Int) -> Void = { _ in }
) async throws -> SimulationOutcome {
  try await scenario.plan.run(wantsTrace: wantsTrace, progress: progress)
}

/// Returns the screen at the end of the scenario's first run (first variant, first device), for
/// comparison with a screen that received the same events.
package func simulatedScreen(_ scenario: Scenario) -> HostScreen? {
  let screen = try? scenario.plan.finalScreen()
  return (screen as? HostRun)?.screen
}

extension Scenario {
  package var plan: SimulationPlan {
    var plan = SimulationPlan(
      name, seed: seed, duration: duration, devices: devices,
      variants: variants.map { variant in
        let settings = variant.settings
        var planned = SimulationPlan.Variant(
          variant.name, framesPerSecond: settings.refreshRate, views: HostView.names
        ) { HostRun(self, settings, $0) }
        planned.costs = settings.costs
        return planned
      }, thresholds: thresholds)
    plan.parameters = parameters
    plan.checksNames = false
    return plan
  }
}
