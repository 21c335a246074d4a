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

      JSON: an object with measured, assumed, costs and missing; times are in nanoseconds.
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

  func validate() throws {
    try global.refuseSocket(of: "calibrate")
    if (output == nil) != (like == nil) {
      throw ValidationError("--output and --like belong together")
    }
  }

  func run(_ context: Context) async throws {
    do {
      let calibration = try traces.calibration(.host)
      let outcome = CommandOutcome(calibration)
      if let output, let like {
        try TextFile.write(calibration.profile(like: like, at: output), to: output)
      }
      try context.print(JSONValue(parsing: outcome.json)) { outcome.lines }
    } catch let problem as CalibrationProblem {
      throw Failure(.badData, problem.description)
    } catch let problem as FileProblem {
      throw Failure(.badData, problem.description)
    } catch let error as ConfigurationError {
      throw Failure(error)
    }
  }
}
