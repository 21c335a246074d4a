import ArgumentParser
import HangCommand
import HangSimulation
import JSON
import Simulation
import TerminalScreen

struct SimulateVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Run a scenario on simulated devices and report how often the screen would hang.",
    discussion: """
      A scenario defines events, devices, variants of the screen and thresholds; see \
      livehost-scenario(5). Device profiles are searched for in the directory 'devices' next to \
      the scenario or next to one of its parent directories; DEVICE+CONDITION is a device under a \
      condition. The same scenario and seed produce the same report, byte for byte. The daemon \
      runs the scenario at low priority; --local needs no daemon.

      Exits with 99 if a threshold is not met, and with 78 if the scenario or a device profile is \
      invalid.

      JSON: the report, an object with version, scenario, seed, parameters, digest, runs and \
      thresholds.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "The scenario, a YAML file.", completion: .file(extensions: ["yaml", "yml"]))
  var scenario: String
  @OptionGroup var changes: ScenarioChanges
  @OptionGroup var simulation: SimulateOptions
  @OptionGroup var files: ReportFiles
  @Flag(help: "Run in this process instead of the daemon.") var local = false

  private var isSilent: Bool {
    get throws {
      try files.replaceOutput([simulation.html, simulation.trace], json: global.wantsJSON)
    }
  }

  func validate() throws {
    if local, global.socket != nil {
      throw ValidationError("--local does not use the daemon; remove --socket")
    }
    if !local {
      try simulation.costs.refuseMeasured("the daemon does not measure costs; add --local")
    }
    _ = try isSilent
  }

  func run(_ context: Context) async throws {
    if local {
      return try await context.simulate(
        scenario, changes, files, isSilent: isSilent, simulation.run)
    }
    let text = try ScenarioText.read(scenario)
    var options = changes.options(scenario)
    options.seed = simulation.seed
    options.wantsTrace = simulation.trace != nil
    let bar = PercentBar(context.console)
    defer { bar.clear() }
    let remote = RemoteSimulation(context: context, wantsPage: simulation.html != nil)
    do {
      let (result, note) = try await simulation.checked(bar.show) { [options] progress in
        let result = try await remote.run(text, options, progress: progress)
        return (result, result.digest)
      }
      bar.clear()
      try simulation.write(page: result.page, trace: result.trace)
      var outcome = result.outcome
      if let note { outcome.notes.append(note) }
      try context.report(outcome, files, isSilent: isSilent)
    } catch {
      throw Context.failure(error)
    }
  }
}

/// An error that lists the missed thresholds on standard error, although the report on standard
/// output also contains them.
struct ThresholdsNotMet: Error {
  var lines: [String]

  var summary: String {
    lines.count == 1 ? "a threshold is not met" : "\(lines.count) thresholds are not met"
  }

  var message: String { ([summary] + lines).joined(separator: "\n") }
}
