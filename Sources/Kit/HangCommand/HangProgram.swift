public import HangSimulation

#if canImport(ArgumentParser)
  import ArgumentParser
#endif

/// A program that simulates a screen of your own:
///
///     @main struct Checkout: HangProgram {
///       static func plan() throws -> SimulationPlan { try checkoutPlan() }
///     }
///
/// Its verbs are `simulate`, `sweep`, `compare` and `calibrate`, and `--help` lists their options: devices, variants,
/// seeds and thresholds, and reports as text, JSON, HTML, JUnit, Markdown and as a trace.
///
/// It exits with 0; with 99 if a threshold is not met; with 64 if the command line is wrong; with 65 if a measured trace
/// does not fit the screen; with 78 if the plan does not; and with 1 for anything else, such as a file that cannot be
/// written.
public protocol HangProgram {
  /// What to simulate, unless the command line says otherwise.
  static func plan() async throws -> SimulationPlan
}

extension HangProgram {
  /// Does what the command line asks for, and ends the process.
  public static func main() async { await Root<Self>.main() }
}

private struct Root<Program: HangProgram>: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: CommandLine.arguments[0].split(separator: "/").last.map(String.init),
      abstract: "Simulate a screen on virtual time and report where it would hang.",
      discussion: """
        Exit codes: 0 done; 1 failed; 64 usage; 65 bad trace; 78 the plan does not fit the screen; 99 thresholds not met.
        """,
      subcommands: [
        SimulateCommand<Program>.self, SweepCommand<Program>.self, CompareCommand<Program>.self,
        CalibrateCommand<Program>.self,
      ])
  }
}

private struct SimulateCommand<Program: HangProgram>: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "simulate",
      abstract: "Run each variant on each device and report the longest turns and their causes.")
  }

  @OptionGroup var plan: PlanOptions
  @Option(help: ArgumentHelp("Use this seed.", valueName: "n")) var seed: UInt64?
  @Option(
    help: ArgumentHelp("Write the report as an HTML page.", valueName: "file"), completion: .file())
  var html: String?
  @Option(help: ArgumentHelp("Write a trace for Perfetto.", valueName: "file"), completion: .file())
  var trace: String?
  @OptionGroup var files: ReportFiles
  @Flag(help: "Print the report as JSON.") var json = false

  func run() async throws {
    try await VerbRun.run(Program.self, plan, files, json: json) { plan, progress in
      var plan = plan
      if let seed { plan.seed = seed }
      let outcome = try await plan.run(wantsTrace: trace != nil, progress: progress)
      if let html { try ReportFiles.write(outcome.report.html, to: html) }
      if let trace { try ReportFiles.write(outcome.trace ?? "", to: trace) }
      return CommandOutcome(outcome.report)
    }
  }
}

private struct SweepCommand<Program: HangProgram>: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "sweep", abstract: SweepOptions.abstract, discussion: SweepOptions.discussion)
  }

  @OptionGroup var plan: PlanOptions
  @OptionGroup var sweep: SweepOptions
  @OptionGroup var files: ReportFiles
  @Flag(help: "Print the report as JSON.") var json = false

  func validate() throws { try sweep.refuse(files) }

  func run() async throws {
    try await VerbRun.run(Program.self, plan, files, json: json) { plan, progress in
      try await sweep.run(plan, progress: progress)
    }
  }
}

private struct CompareCommand<Program: HangProgram>: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "compare",
      abstract: "Compare variants, seed by seed: whether they differ by more than noise.",
      discussion: "The first variant, or the first --variant, is compared with each other one.")
  }

  @OptionGroup var plan: PlanOptions
  @OptionGroup var seeds: SeedOptions
  @OptionGroup var files: ReportFiles
  @Flag(help: "Print the report as JSON.") var json = false

  func run() async throws {
    try await VerbRun.run(Program.self, plan, files, json: json) { plan, progress in
      try await seeds.compare(plan, progress: progress)
    }
  }
}

private struct CalibrateCommand<Program: HangProgram>: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "calibrate", abstract: TraceArguments.abstract,
      discussion: TraceArguments.discussion)
  }

  @OptionGroup var traces: TraceArguments
  @Flag(help: "Print the costs as JSON, in nanoseconds.") var json = false

  func run() async throws {
    try await VerbRun.run(Program.self, json: json) { plan, progress in
      traces.here
        ? CommandOutcome(try traces.calibrationHere(plan, progress: progress))
        : CommandOutcome(try traces.calibration(plan.names()))
    }
  }
}
