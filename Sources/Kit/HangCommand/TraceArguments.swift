package import ArgumentParser
import Foundation
package import HangSimulation

/// Measured traces, and what they say about a screen.
package struct TraceArguments: ParsableArguments {
  package static let abstract = "Find what views and actions cost from traces of a real device."
  package static let discussion = """
    A trace is trace-event JSON, such as Chromium's, or text with the heading \
    'name,milliseconds,elements,first', of which the last two may be left out. Only names of views and of \
    kinds of actions count. 'elements' says how many elements a view showed or an action carried, \
    and 'first' whether the view appeared; in trace events both are arguments, or in the detail of \
    performance.measure().

    What is within a view or an action and has a name of its own is taken off. Outliers are left out, \
    no cost is negative, and every fifth measurement is held out to say how well the costs predict it.
    """

  @Argument(
    help: ArgumentHelp("Measured traces of one device.", valueName: "trace"), completion: .file())
  package var traces: [String]

  package init() {}

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
