import Foundation
import HangSimulation

#if canImport(ArgumentParser)
  import ArgumentParser
#endif

/// Runs a verb as a process: shows a progress bar, prints the report, and returns an exit code.
enum VerbRun {
  static func run(
    _ program: (some HangProgram).Type, _ changes: PlanChanges<PlanDevices>? = nil,
    _ files: ReportFiles? = nil, json: Bool, isSilent: Bool = false,
    _ verb:
      @escaping (SimulationPlan, _ progress: (_ percent: Int) -> Void) async throws ->
      CommandOutcome
  ) async throws {
    try await report(files, json: json, isSilent: isSilent) { progress in
      var plan = try await program.plan()
      try changes?.apply(to: &plan)
      return try await verb(plan, progress)
    }
  }

  /// Reports the outcome. If `isSilent`, the report is not printed, because standard output carries
  /// an output file.
  static func report(
    _ files: ReportFiles?, json: Bool, isSilent: Bool,
    _ verb: (_ progress: (_ percent: Int) -> Void) async throws -> CommandOutcome
  ) async throws {
    let isWatched = isatty(STDERR_FILENO) == 1
    do {
      let outcome = try await verb { percent in
        if isWatched { writeToStandardError("\r\(bar(percent))") }
      }
      if isWatched { writeToStandardError("\r\u{1B}[K") }
      try files?.write(outcome)
      let isTerminal = isatty(STDOUT_FILENO) == 1 && isColourful
      let lines =
        json ? [outcome.json] : isTerminal ? Verdict.coloured(outcome.lines) : outcome.lines
      if !isSilent {
        try FileHandle.standardOutput.write(
          contentsOf: Data(lines.map { $0 + "\n" }.joined().utf8))
      }
      for note in outcome.notes { writeToStandardError(note + "\n") }
      if !outcome.missed.isEmpty { throw ExitCode(99) }
    } catch let problem as SimulationProblem {
      fail(problem.description, 78)
    } catch let problem as ThresholdProblem {
      fail(problem.message, 78)
    } catch let problem as CalibrationProblem {
      fail(problem.description, 65)
    } catch let problem as FileProblem {
      fail(problem.description, problem.isBadData ? 65 : 1)
    }
  }

  private static var isColourful: Bool {
    let environment = ProcessInfo.processInfo.environment
    return environment["NO_COLOR"] == nil && environment["TERM"] != "dumb"
  }

  private static func bar(_ percent: Int) -> String {
    let filled = percent * 30 / 100
    return "[" + String(repeating: "#", count: filled)
      + String(repeating: "-", count: 30 - filled) + "] \(percent)%"
  }

  private static func writeToStandardError(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }

  private static func fail(_ message: String, _ code: Int32) -> Never {
    writeToStandardError("Error: \(message)\n")
    exit(code)
  }
}

/// Colours the verdict and the thresholds at the start of a report.
package enum Verdict {
  /// Marks met thresholds in green and missed thresholds in red.
  package static func coloured(_ lines: [String]) -> [String] {
    let isBad = lines.contains { $0.hasPrefix("  ✗ ") }
    let isGood = !isBad && lines.contains { $0.hasPrefix("  ✓ ") }
    return lines.enumerated().map { index, line in
      if index == 0 { return style("1" + (isBad ? ";31" : isGood ? ";32" : ""), line) }
      if line.hasPrefix("  ✗ ") { return style("31", line) }
      return line.hasPrefix("  ✓ ") ? style("32", line) : line
    }
  }

  private static func style(_ codes: String, _ line: String) -> String {
    "\u{1B}[\(codes)m\(line)\u{1B}[0m"
  }
}
