import ArgumentParser
import HangCommand
import HangSimulation
import JSON
import Simulation
import TerminalScreen
import YAMLReader

extension Context {
  /// Runs one of the verbs of `HangCommand` with a scenario, in this process. Prints the report
  /// unless `isSilent` is true, because then standard output receives a file.
  func simulate(
    _ path: String, _ changes: ScenarioChanges, _ files: ReportFiles, isSilent: Bool,
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
      try report(outcome, files, isSilent: isSilent)
    } catch {
      throw Self.failure(error)
    }
  }

  /// Prints the result of a verb of `HangCommand`, and writes the requested files.
  func report(_ outcome: CommandOutcome, _ files: ReportFiles, isSilent: Bool) throws {
    do { try files.write(outcome) } catch { throw Self.failure(error) }
    if !isSilent {
      try print(JSONValue(parsing: outcome.json)) { console.coloured(outcome.lines) }
    }
    for note in outcome.notes { console.warn(note) }
    if !outcome.missed.isEmpty { throw ThresholdsNotMet(lines: outcome.missed) }
  }

  /// Converts errors of `HangCommand` into failures with their exit codes.
  static func failure(_ error: any Error) -> any Error {
    switch error {
    case let error as ValidationError: Failure(.usage, error.message)
    case let error as SimulationProblem: Failure(.configuration, error.description)
    case let error as CalibrationProblem: Failure(.badData, error.description)
    case let error as ConfigurationError: Failure(error)
    case let problem as FileProblem:
      Failure(problem.isBadData ? .badData : .failed, problem.description)
    default: error
    }
  }
}

extension Console {
  func coloured(_ lines: [String]) -> [String] {
    isOutputTerminal && palette != .none ? Verdict.coloured(lines) : lines
  }
}

extension GlobalOptions {
  var wantsJSON: Bool { mode(isTerminal: false) != .off }

  /// Rejects `--socket` for a verb that does not use the daemon.
  func refuseSocket(of verb: String) throws {
    if socket != nil {
      throw ValidationError("\(verb) reads files and does not use the daemon; remove --socket")
    }
  }
}

extension Failure {
  init(_ error: ConfigurationError) {
    self.init(scenario: error.description, error.file, error.line, error.key)
  }

  init(scenario description: String, _ file: String, _ line: Int?, _ key: String?) {
    var details: [JSONName: JSONValue] = ["file": .string(file)]
    if let line { details["line"] = .integer(Int64(line)) }
    if let key { details["key"] = .string(key) }
    self.init(
      file.hasPrefix("--") ? .usage : .configuration, TerminalText.sanitized(description),
      details: details)
  }
}
