import Dispatch
import Foundation
package import HangSimulation

#if canImport(ArgumentParser)
  package import ArgumentParser
#endif

/// What `calibrate` says about itself.
package enum CalibrateHelp {
  package static let abstract = "Find what views and actions cost from traces of a real device."
  package static let discussion = """
    A trace is trace-event JSON, as Chromium and Perfetto write it; XML with the table os-signpost-interval that \
    'xctrace export' wrote; or text with the heading 'name,milliseconds,elements,first', of which the last two may be \
    left out. Only names of views and of kinds of actions count. 'elements' says how many elements a view showed or an \
    action carried, and 'first' whether the view appeared; in trace events both are arguments, or in the detail of \
    performance.measure(), and in signposts they are in the message.

    What is within a view or an action and has a name of its own is taken off. Outliers are left out, \
    no cost is negative, and every fifth measurement is held out to say how well the costs predict it.

    --here measures on this machine instead: it simulates the screen, whose reducers and views are the real \
    ones, and takes the time. Work that grows with a collection of the state gets a cost for each of its elements. Then \
    it simulates a device with the costs it found, with another seed, and compares each frame with what it really took.

    --output writes a device that has the costs found and, of what was not measured, those of the device that \
    --like names.
    """
}

/// Measured traces, and what they say about a screen.
package struct TraceArguments<Devices: DeviceNames>: ParsableArguments {
  @Argument(
    help: ArgumentHelp("Measured traces of one device.", valueName: "trace"), completion: .file())
  package var traces: [String] = []
  @Flag(help: "Measure the screen on this machine.") package var here = false
  @Option(
    help: ArgumentHelp(
      "With --here, write a picture of the frames, simulated and measured, as SVG.",
      valueName: "file"), completion: .file())
  var scatter: String?

  @Option(
    help: ArgumentHelp("Write the device to this file.", valueName: "file"), completion: .file())
  package var output: String?
  @Option(
    help: ArgumentHelp("What was not measured is as on this device.", valueName: "device"),
    completion: Devices.completion)
  package var like: String?

  package init() {}

  package func validate() throws {
    if (output == nil) != (like == nil) {
      throw ValidationError("--output and --like belong together")
    }
    if here != traces.isEmpty {
      throw ValidationError(
        here
          ? "--here measures by itself and reads no trace"
          : "needs a trace, or --here to measure on this machine")
    }
    if scatter != nil, !here { throw ValidationError("--scatter belongs to --here") }
  }

  /// Measures a screen on this machine.
  ///
  /// - Throws: ``SimulationProblem``, ``CalibrationProblem``, `FileProblem`, `CancellationError`.
  package func calibrationHere(
    _ plan: SimulationPlan, _ names: Calibration.Names? = nil,
    progress: (_ percent: Int) -> Void = { _ in }
  ) throws -> HereCalibration {
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
