import ArgumentParser
import HangCommand
import HangSimulation
import JSON
import Simulation

struct SimulateVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Run a scenario on simulated devices and report how often the screen would hang.",
    discussion: """
      A scenario names events, devices, variants of the screen and thresholds; see \
      livehost-scenario(5). Device profiles are looked up in the directory 'devices' beside the \
      scenario or beside one of its parent directories; DEVICE+CONDITION is a device under a \
      condition. The same scenario and seed give the same report, byte for byte. The daemon runs the \
      scenario at low priority; --local needs no daemon.

      Exits with 99 if a threshold is not met, and with 78 if the scenario or a device profile is \
      invalid.

      JSON: the report, an object with version, scenario, seed, parameters, digest, runs and \
      thresholds.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "The scenario, a YAML file.", completion: .file(extensions: ["yaml", "yml"]))
  var scenario: String
  @OptionGroup var changes: ScenarioChanges
  @Option(help: ArgumentHelp("Use this seed instead of the scenario's.", valueName: "n"))
  var seed: UInt64?
  @Option(help: ArgumentHelp("Write a trace for Perfetto.", valueName: "file"), completion: .file())
  var trace: String?
  @Option(
    help: ArgumentHelp("Write the report as an HTML page with charts.", valueName: "file"),
    completion: .file())
  var html: String?
  @OptionGroup var files: ReportFiles
  @Flag(help: "Run in this process instead of the daemon.") var local = false
  @Flag(name: .customLong("check-determinism"), help: "Run twice and compare.")
  var checkDeterminism = false

  func validate() throws {
    if local, global.socket != nil {
      throw ValidationError("--local does not use the daemon; leave out --socket")
    }
  }

  func run(_ context: Context) async throws {
    let text = try ScenarioText.read(scenario)
    var options = changes.options(scenario)
    options.seed = seed
    options.wantsTrace = trace != nil
    let result = try await run(text, options, context)
    if let trace, let text = result.trace { try TextFile.write(text, to: trace) }
    if let html, let page = result.page { try TextFile.write(page, to: html) }
    do { try files.write(result.outcome) } catch {
      throw Failure(.failed, "\(error)")
    }
    try context.print(result.report) { context.console.coloured(result.lines) }
    if !result.missed.isEmpty { throw ThresholdsNotMet(lines: result.missed) }
  }

  /// Runs it once or twice, with a progress bar over both.
  private func run(
    _ text: String, _ options: SimulationOptions, _ context: Context
  ) async throws -> SimulationResult {
    let bar = PercentBar(context.console)
    defer { bar.clear() }
    func once(_ progress: (Int) -> Void) async throws -> SimulationResult {
      if local {
        return try await LocalSimulation(wantsPage: html != nil)
          .run(text, options, progress: progress)
      }
      return try await RemoteSimulation(context: context, wantsPage: html != nil)
        .run(text, options, progress: progress)
    }
    guard checkDeterminism else { return try await once(bar.show) }
    let first = try await once { bar.show($0 / 2) }
    let second = try await once { bar.show(50 + $0 / 2) }
    bar.clear()
    guard first == second else {
      throw Failure(
        .failed, "two runs of the same input differ: digests \(first.digest) and \(second.digest)")
    }
    context.console.warn("two runs agree, digest \(first.digest)")
    return first
  }
}

/// Thresholds that were not met: an exit code and a list on standard error. The report on standard output
/// is complete without them.
struct ThresholdsNotMet: Error {
  var lines: [String]

  var summary: String {
    lines.count == 1 ? "a threshold is not met" : "\(lines.count) thresholds are not met"
  }

  var message: String { ([summary] + lines).joined(separator: "\n") }
}
