import ArgumentParser
import HangCommand
import HangSimulation
import JSON
import Simulation
import YAMLReader

struct CalibrateVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "calibrate", abstract: CalibrateHelp.abstract,
    discussion: """
      \(CalibrateHelp.discussion)

      The file is a device profile in YAML that extends the profile of --like. Profiles are \
      searched for in the directory 'devices' next to the file of --output or next to one of its \
      parent directories, then in config/devices, then among the installed ones. Exits with 65 if \
      a trace cannot be read or does not fit the screen.

      --here measures the daemon's screen during four minutes of a busy stream, or during --scenario.

      JSON: an object with measured, assumed, costs and missing, and with frameTimelines if the \
      trace has frames of FrameTimeline. With --here, an object with calibration, correlation and \
      frames. Times are in nanoseconds.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @OptionGroup var traces: TraceArguments<ScenarioDevices>
  @Option(
    help: ArgumentHelp("With --here, run the first variant of this scenario.", valueName: "file"),
    completion: .file(extensions: ["yaml", "yml"]))
  var scenario: String?

  func validate() throws {
    try global.refuseSocket(of: "calibrate")
    if scenario != nil, !traces.here { throw ValidationError("--scenario requires --here") }
  }

  func run(_ context: Context) async throws {
    do {
      let found = traces.here ? try traces.localCalibration(plan(), .host) : nil
      let calibration = try found?.calibration ?? traces.calibration(.host)
      let outcome = found.map { CommandOutcome($0) } ?? CommandOutcome(calibration)
      if let output = traces.output, let like = traces.like {
        try TextFile.write(calibration.profile(like: like, at: output), to: output)
      }
      try context.print(JSONValue(parsing: outcome.json)) { outcome.lines }
    } catch let problem as FileProblem {
      throw Failure(.badData, problem.description)
    } catch {
      throw Context.failure(error)
    }
  }

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
