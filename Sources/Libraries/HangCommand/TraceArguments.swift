import Dispatch
import Foundation
package import HangSimulation

#if canImport(ArgumentParser)
  package import ArgumentParser
#endif

/// The help texts of `calibrate`.
package enum CalibrateHelp {
  package static let abstract = "Find the costs of views and actions from traces of a real device."
  package static let discussion = """
    A trace has one of these formats: trace-event JSON, as written by Chromium and Perfetto; XML \
    with the table os-signpost-interval, as written by 'xctrace export'; or text with the heading \
    'name,milliseconds,elements,first', where the last two columns are optional. Only names of \
    views and kinds of actions count. 'elements' is the number of elements that a view showed or \
    an action carried, and 'first' is whether the view appeared. In trace events, both are \
    arguments, or members of the detail of performance.measure(); in signposts, both are in the \
    message.

    The time of named intervals nested within a view or an action is subtracted. Outliers are \
    excluded, no cost is negative, and every fifth measurement is held out to report the \
    prediction error.

    --here measures on this machine instead: it simulates the screen with its real reducers and \
    views, and measures them. Work that grows with a collection of the state gets a cost for each \
    of its elements. It then simulates a device with these costs and another seed, and compares \
    the simulated and the measured time of each frame.

    --output writes a device with these costs. Costs that were not measured are copied from the \
    device given by --like.
    """
}

/// The arguments of `calibrate`.
package struct TraceArguments<Devices: DeviceNames>: ParsableArguments {
  @Argument(
    help: ArgumentHelp("Measured traces of one device.", valueName: "trace"), completion: .file())
  package var traces: [String] = []
  @Flag(help: "Measure the screen on this machine.") package var here = false
  @Option(
    help: ArgumentHelp(
      "With --here, write a scatter plot of simulated and measured frame times as SVG.",
      valueName: "file"), completion: .file())
  var scatter: String?

  @Option(
    help: ArgumentHelp("Write the device to this file.", valueName: "file"), completion: .file())
  package var output: String?
  @Option(
    help: ArgumentHelp(
      "Device that provides the costs that were not measured.", valueName: "device"),
    completion: Devices.completion)
  package var like: String?

  package init() {}

  package func validate() throws {
    if (output == nil) != (like == nil) {
      throw ValidationError("--output and --like must be used together")
    }
    if here != traces.isEmpty {
      throw ValidationError(
        here
          ? "--here reads no traces; remove them"
          : "a trace is needed, or --here to measure on this machine")
    }
    if scatter != nil, !here { throw ValidationError("--scatter needs --here") }
  }

  /// Measures a screen on this machine.
  ///
  /// - Throws: ``SimulationProblem``, ``CalibrationProblem``, `FileProblem`, `CancellationError`.
  package func localCalibration(
    _ plan: SimulationPlan, _ names: Calibration.Names? = nil,
    progress: (_ percent: Int) -> Void = { _ in }
  ) throws -> LocalCalibration {
    let found = try plan.calibratedHere(
      names, now: { DispatchTime.now().uptimeNanoseconds }, progress: progress)
    if let scatter { try ReportFiles.write(found.scatter, to: scatter) }
    return found
  }

  /// - Throws: ``CalibrationProblem``, `FileProblem`.
  package func calibration(_ names: Calibration.Names) throws -> Calibration {
    let read = try traces.map { path in
      guard let data = FileManager.default.contents(atPath: path) else {
        throw FileProblem(description: "cannot read \(path)")
      }
      do throws(CalibrationProblem) { return try MeasuredTrace([UInt8](data)) } catch {
        throw CalibrationProblem("\(path): \(error)")
      }
    }
    return try Calibration(read, names)
  }
}
