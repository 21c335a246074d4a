import ArgumentParser
import HangCommand
import HangSimulation
import JSON
import Simulation
import YAMLReader

extension Context {
  /// Runs a verb of `HangCommand` on a scenario, and reports what it found.
  func simulate(
    _ path: String, _ changes: ScenarioChanges, _ files: ReportFiles,
    _ verb: (SimulationPlan, _ progress: (_ percent: Int) -> Void) async throws -> CommandOutcome
  ) async throws {
    let text = try ScenarioText.read(path)
    let plan: SimulationPlan
    do throws(ConfigurationError) {
      plan = try Scenario(text, changes.options(path)).plan
    } catch { throw Failure(error) }
    let bar = PercentBar(console)
    defer { bar.clear() }
    do {
      let outcome = try await verb(plan, bar.show)
      bar.clear()
      try files.write(outcome)
      try print(JSONValue(parsing: outcome.json)) { console.coloured(outcome.lines) }
      if !outcome.missed.isEmpty { throw ThresholdsNotMet(lines: outcome.missed) }
    } catch let error as ValidationError {
      throw Failure(.usage, error.message)
    } catch let error as SimulationProblem {
      throw Failure(.configuration, error.description)
    } catch let problem as FileProblem {
      throw Failure(.failed, problem.description)
    }
  }
}

extension Console {
  /// The lines of a report, with colours where there may be some.
  func coloured(_ lines: [String]) -> [String] {
    isOutputTerminal && palette != .none ? Verdict.coloured(lines) : lines
  }
}

extension GlobalOptions {
  /// For verbs that do not ask the daemon.
  func refuseSocket(of verb: String) throws {
    if socket != nil {
      throw ValidationError("\(verb) reads files and does not ask the daemon; leave out --socket")
    }
  }
}
