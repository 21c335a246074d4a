import Foundation
public import HangSimulation
import IssueReporting
import ViewGraph

/// Simulates, and fails the running test for each condition that a run does not meet: with the longest turn of
/// that run, what took its time and which field was behind it, and with a trace to look at.
///
///     @Test(arguments: [phone, phone.slowed(by: 1.8)])
///     func `a sale does not hang the checkout`(device: Device) async throws {
///       let plan = SimulationPlan(
///         "sale", seed: 1, duration: .seconds(30), devices: [device],
///         variants: [checkout.variant("default", events: sale)])
///       try await expect("hangs == 0", "view(BasketView).avoidable < 10", of: plan)
///     }
///
/// - Parameters:
///   - thresholds: conditions in addition to those of the plan; see ``Threshold``.
///   - folder: where traces of runs that failed are written; by default beside the test.
/// - Returns: the report.
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
  guard !report.isPassed else { return report }
  // The same plan gives the same run, so that only those that fail are traced.
  let trace = try await plan.run(wantsTrace: true).trace ?? ""
  let folder = folder ?? URL(fileURLWithPath: "\(filePath)").deletingLastPathComponent().path
  let path = "\(folder)/\(fileName(plan)).trace.json"
  let written: String
  do {
    try trace.write(toFile: path, atomically: true, encoding: .utf8)
    written = "trace: \(path) (open it with Perfetto)"
  } catch {
    written = "no trace: \(path) cannot be written: \(error.localizedDescription)"
  }
  for threshold in report.thresholds where !threshold.passed {
    var lines = ["\(threshold.text) is not met"]
    for failure in threshold.failures {
      lines.append("\(failure.device), \(failure.variant), seed \(failure.seed): \(failure.value)")
      let run = report.run(device: failure.device, variant: failure.variant)
      guard let run, let turn = run.longestTurns.first else { continue }
      lines.append("  longest turn: \(turn.line)")
      if let view = turn.view, let trigger = turn.viewTrigger {
        lines.append("  \(view) was evaluated because \(trigger.action) changed \(trigger.field)")
      }
    }
    reportIssue(
      (lines + [written]).joined(separator: "\n"), fileID: fileID, filePath: filePath, line: line,
      column: column)
  }
  return report
}

/// The name of a plan and its seed, as the name of a file.
private func fileName(_ plan: SimulationPlan) -> String {
  let name = plan.name.map { $0.isLetter || $0.isNumber ? $0 : "-" }
  return String(name) + "-\(plan.seed)"
}
