import ArgumentParser
import HangCommand
import HangSimulation
import JSON
import Simulation
import YAMLReader

struct CalibrateVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "calibrate", abstract: TraceArguments.abstract,
    discussion: """
      \(TraceArguments.discussion)

      With --like, what the traces do not tell is taken from that device, whose profile --output \
      continues. Exits with 65 if a trace cannot be read or does not fit the screen.

      --here measures the screen of the daemon with four minutes of a busy stream, or with --scenario.

      JSON: an object with measured, assumed, costs, missing and, if the trace has frames of FrameTimeline, \
      frameTimelines; of --here, an object with calibration, correlation and frames. Times are in nanoseconds.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @OptionGroup var traces: TraceArguments
  @Option(
    help: ArgumentHelp("Write a device profile.", valueName: "file"), completion: .file())
  var output: String?
  @Option(
    help: ArgumentHelp("What was not measured is as on this device.", valueName: "device"),
    completion: .devices)
  var like: String?

  @Option(
    help: ArgumentHelp("With --here, run the first variant of this scenario.", valueName: "file"),
    completion: .file(extensions: ["yaml", "yml"]))
  var scenario: String?

  func validate() throws {
    try global.refuseSocket(of: "calibrate")
    if scenario != nil, !traces.here { throw ValidationError("--scenario belongs to --here") }
    if (output == nil) != (like == nil) {
      throw ValidationError("--output and --like belong together")
    }
  }

  func run(_ context: Context) async throws {
    do {
      let found = traces.here ? try traces.calibrationHere(plan(), .host) : nil
      let calibration = try found?.calibration ?? traces.calibration(.host)
      let outcome = found.map { CommandOutcome($0) } ?? CommandOutcome(calibration)
      if let output, let like {
        try TextFile.write(calibration.profile(like: like, at: output), to: output)
      }
      try context.print(JSONValue(parsing: outcome.json)) { outcome.lines }
    } catch let problem as SimulationProblem {
      throw Failure(.configuration, problem.description)
    } catch let problem as CalibrationProblem {
      throw Failure(.badData, problem.description)
    } catch let problem as FileProblem {
      throw Failure(.badData, problem.description)
    } catch let error as ConfigurationError {
      throw Failure(error)
    }
  }

  /// What to run while it is measured.
  private func plan() throws -> SimulationPlan {
    guard let scenario else { return try Scenario.busyStream().plan }
    guard let bytes = ScenarioFiles.disk.read(scenario) else {
      throw Failure(.badData, "cannot read \(scenario)")
    }
    return try Scenario(
      String(decoding: bytes, as: UTF8.self), SimulationOptions(path: scenario)
    ).plan
  }
}
