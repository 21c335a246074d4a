import HangSimulation
import JSON
import Simulation
import YAMLReader

/// Runs a scenario in this process.
struct LocalSimulation {
  var wantsPage: Bool

  func run(
    _ text: String, _ options: SimulationOptions, progress: (Int) -> Void
  ) async throws -> SimulationResult {
    do {
      let outcome = try await simulate(
        scenarioText: text, options: options, progress: progress)
      return SimulationResult(
        report: try JSONValue(parsing: outcome.report.json), lines: outcome.report.lines,
        missed: outcome.report.thresholds.filter { !$0.passed }.map(\.line),
        page: wantsPage ? outcome.report.html : nil, trace: outcome.trace)
    } catch let error as ConfigurationError {
      throw Failure(error)
    }
  }
}

extension Failure {
  init(_ error: ConfigurationError) {
    self.init(scenario: error.description, error.file, error.line, error.key)
  }

  /// - Parameter description: the whole error in one line.
  init(scenario description: String, _ file: String, _ line: Int?, _ key: String?) {
    var details: [JSONName: JSONValue] = ["file": .string(file)]
    if let line { details["line"] = .integer(Int64(line)) }
    if let key { details["key"] = .string(key) }
    self.init(
      file.hasPrefix("--") ? .usage : .configuration, TerminalText.sanitized(description),
      details: details)
  }
}
