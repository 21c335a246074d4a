import ArgumentParser
import JSON
import Simulation

struct SimulateVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Run a scenario on simulated devices and say how often the screen would hang.",
    discussion: """
      A scenario names events, devices, variants of the screen and thresholds. Devices are looked for in
      the directory 'devices' beside the scenario or beside a directory that it is in; DEVICE+CONDITION is
      a device under a condition. The same scenario and seed give the same report, byte for byte.
      The daemon runs it, at low priority beside its rooms; --local needs no daemon.

      Ends with 99 if a threshold is not met, with 78 if the scenario or a device profile is wrong.
      JSON: the report, an object with version, scenario, seed, parameters, digest, runs and thresholds.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "The scenario, a YAML file.") var scenario: String
  @Option(
    name: .customLong("device"),
    help: ArgumentHelp("A device instead of the scenario's; may be repeated.", valueName: "device"))
  var devices: [String] = []
  @Option(
    name: .customLong("variant"),
    help: ArgumentHelp("The only variant to run; may be repeated.", valueName: "variant"))
  var variants: [String] = []
  @Option(help: ArgumentHelp("The seed instead of the scenario's.", valueName: "n"))
  var seed: UInt64?
  @Option(
    name: .customLong("set"),
    help: ArgumentHelp(
      "Set a key of the scenario or of all variants, such as load=2 or costs.view=3ms; may be repeated.",
      valueName: "key=value"))
  var settings: [String] = []
  @Option(
    name: .customLong("threshold"),
    help: ArgumentHelp(
      "A threshold beside the scenario's, such as 'hangs == 0'; may be repeated.",
      valueName: "threshold"))
  var thresholds: [String] = []
  @Option(help: ArgumentHelp("Write a trace that Perfetto opens.", valueName: "file"))
  var trace: String?
  @Option(help: ArgumentHelp("Write the report as a page with charts.", valueName: "file"))
  var html: String?
  @Flag(help: "Run in this process rather than in the daemon.") var local = false
  @Flag(name: .customLong("check-determinism"), help: "Run twice and compare.")
  var checkDeterminism = false

  func validate() throws {
    if local, global.socket != nil {
      throw ValidationError("--local asks no daemon: --socket makes no sense with it")
    }
  }

  func run(_ context: Context) async throws {
    let text = try ScenarioText.read(scenario)
    var options = SimulationOptions(path: scenario)
    options.devices = devices
    options.variants = variants
    options.seed = seed
    options.settings = settings
    options.thresholds = thresholds
    options.wantsTrace = trace != nil
    let result = try await run(text, options, context)
    if let trace, let text = result.trace { try TextFile.write(text, to: trace) }
    if let html, let page = result.page { try TextFile.write(page, to: html) }
    try context.print(result.report) { result.lines }
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

  var message: String {
    let count = lines.count == 1 ? "a threshold is" : "\(lines.count) thresholds are"
    return (["\(count) not met"] + lines).joined(separator: "\n")
  }
}
