import Simulation
import Varlink

/// Runs a scenario in this process, with a progress bar on a terminal.
struct LocalSimulation {
  var context: Context
  /// Whether it runs twice, to see that both agree.
  var repeats: Bool

  func run(_ text: String, _ options: SimulationOptions) async throws -> SimulationOutcome {
    defer { clear() }
    do {
      let outcome = try await simulate(scenarioText: text, options: options) {
        show($0, of: repeats ? 2 : 1, done: 0)
      }
      guard repeats else { return outcome }
      let second = try await simulate(scenarioText: text, options: options) {
        show($0, of: 2, done: 1)
      }
      try compare(outcome, second)
      return outcome
    } catch let error as ScenarioError {
      throw Failure(error)
    }
  }

  private func compare(
    _ first: SimulationOutcome, _ second: SimulationOutcome
  ) throws(Failure) {
    clear()
    guard first.report.json == second.report.json, first.trace == second.trace else {
      throw Failure(
        .failed,
        "two runs with the seed \(first.report.seed) differ: digests \(first.report.digest) and "
          + second.report.digest)
    }
    context.console.warn("two runs agree, digest \(first.report.digest)")
  }

  // MARK: Progress

  private func show(_ percent: Int, of runs: Int, done: Int) {
    guard context.console.isDiagnosticsTerminal else { return }
    let share = (percent + 100 * done) / runs
    let width = min(40, max(8, context.console.size().columns - 8))
    let filled = share * width / 100
    let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
    context.console.diagnose("\r[\(bar)] \(share)%\u{1B}[K")
  }

  private func clear() {
    if context.console.isDiagnosticsTerminal { context.console.diagnose("\r\u{1B}[K") }
  }
}

extension Failure {
  init(_ error: ScenarioError) {
    var details: [String: JSONValue] = ["file": .string(error.file)]
    if let line = error.line { details["line"] = .integer(Int64(line)) }
    if let key = error.key { details["key"] = .string(key) }
    self.init(
      error.isUsage ? .usage : .configuration, TerminalText.sanitized(error.description),
      details: details)
  }
}
