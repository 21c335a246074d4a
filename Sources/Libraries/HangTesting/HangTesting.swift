public import HangSimulation
import IssueReporting

/// Simulates a plan, and fails the running test for each condition that a run does not meet. The
/// failure lists the relevant turns, actions, fields, and views, and the path of a trace.
///
///     @Test(arguments: [phone, phone.slowed(by: 1.8)])
///     func `a sale does not hang the checkout`(device: Device) async throws {
///       let plan = SimulationPlan(
///         "sale", seed: 1, duration: .seconds(30), devices: [device],
///         variants: [checkout.variant("default", events: sale)])
///       try await expect("hangs == 0", "view(BasketView).avoidable < 10", of: plan)
///     }
///
/// A skipped condition also fails the test, because a test has no other way to report it.
///
/// - Parameters:
///   - thresholds: The conditions in addition to those of the plan; see ``Threshold``.
///   - folder: The folder for the traces of failed runs; by default `.build/hang-traces` of the
///     test's package, or else the directory for temporary files.
/// - Returns: The report.
/// - Throws: ``ThresholdProblem``, ``SimulationProblem``, `CancellationError`.
@discardableResult
public func expect(
  _ thresholds: String..., of plan: SimulationPlan, traces folder: String? = nil,
  fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
  column: UInt = #column
) async throws -> SimulationReport {
  var plan = plan
  plan.thresholds += try thresholds.map { try Threshold($0) }
  let report = try await plan.run().report
  func fail(_ lines: [String]) {
    reportIssue(
      lines.joined(separator: "\n"), fileID: fileID, filePath: filePath, line: line, column: column)
  }
  for threshold in report.thresholds {
    if let skipped = threshold.skipped { fail(["\(threshold.text) was not checked: \(skipped)"]) }
  }
  guard !report.isPassed else { return report }
  // The same plan gives the same result, so only failing plans are run again for a trace.
  let trace = try await plan.run(wantsTrace: true).trace ?? ""
  let file = TraceFile(plan, folder: folder, test: "\(filePath)")
  let written = file.write(trace)
  for threshold in report.thresholds where threshold.isMissed {
    var lines = ["\(threshold.text) is not met"]
    for failure in threshold.failures {
      lines.append("\(failure.device), \(failure.variant), seed \(failure.seed): \(failure.found)")
      lines += failure.explanation.map { "  \($0)" }
    }
    fail(lines + [written])
  }
  return report
}

extension ThresholdReport.Failure {
  fileprivate var found: String { base.map { "\(value), and \($0) in the base" } ?? value }
}
