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
/// The verbs of the program are `simulate`, `sweep`, `compare`, and `calibrate`. `--help` lists
/// their options: devices, variants, settings such as `load=2`, seeds, thresholds, and reports as
/// text, JSON, HTML, JUnit, Markdown, and traces.
///
/// The exit code is 0 on success, 99 if a threshold is not met, 64 for an invalid command line, 65
/// if a measured trace does not match the screen, 78 if the plan does not match the screen, and 1
/// for other errors, such as a file that cannot be written.
public protocol HangProgram {
  /// Returns the plan to simulate, which the command line may change.
  static func plan() async throws -> SimulationPlan
}

extension HangProgram {
  /// Runs the verb of the command line, and ends the process.
  public static func main() async { await Root<Self>.main() }
}

private struct Root<Program: HangProgram>: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: CommandLine.arguments[0].split(separator: "/").last.map(String.init),
      abstract: "Simulate a screen on virtual time and report where it would hang.",
      discussion: """
        Exit codes: 0 done; 1 failed; 64 usage; 65 bad trace; 78 the plan does not match the \
        screen; 99 thresholds not met.
        """,
      subcommands: [
        SimulateCommand<Program>.self, SweepCommand<Program>.self, CompareCommand<Program>.self,
        CalibrateCommand<Program>.self,
      ])
  }
}

private struct SimulateCommand<Program: HangProgram>: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(commandName: "simulate", abstract: SimulateOptions.abstract)
  }

  @OptionGroup var changes: PlanChanges<PlanDevices>
  @OptionGroup var simulation: SimulateOptions
  @OptionGroup var files: ReportFiles
  @Flag(help: "Print the report as JSON.") var json = false

  private var isSilent: Bool {
    get throws { try files.replaceOutput([simulation.html, simulation.trace], json: json) }
  }

  func validate() throws { _ = try isSilent }

  func run() async throws {
    try await VerbRun.run(
      Program.self, changes, files, json: json, isSilent: isSilent
    ) { plan, progress in
      try await simulation.run(plan, progress: progress)
    }
  }
}

private struct SweepCommand<Program: HangProgram>: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "sweep", abstract: SweepOptions.abstract, discussion: SweepOptions.discussion)
  }

  @OptionGroup var changes: PlanChanges<PlanDevices>
  @OptionGroup var sweep: SweepOptions
  @OptionGroup var files: ReportFiles
  @Flag(help: "Print the report as JSON.") var json = false

  private var isSilent: Bool { get throws { try files.replaceOutput([sweep.html], json: json) } }

  func validate() throws {
    try sweep.refuse(files)
    _ = try isSilent
  }

  func run() async throws {
    try await VerbRun.run(
      Program.self, changes, files, json: json, isSilent: isSilent
    ) { plan, progress in
      try await sweep.run(plan, progress: progress)
    }
  }
}

private struct CompareCommand<Program: HangProgram>: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "compare",
      abstract: "Compare two reports, or variants over many seeds.",
      discussion: """
        A report is a file written by 'simulate --json' or 'sweep --json'. FILE:VARIANT selects \
        the runs of one variant.

        Without reports, the first variant (or the first --variant) is compared with each other \
        variant, seed by seed. The report shows which differences are more than noise.

        \(ComparisonHelp.thresholds)
        """)
  }

  @Argument(help: ArgumentHelp("A report, or FILE:VARIANT.", valueName: "a"), completion: .file())
  var first: String?
  @Argument(
    help: ArgumentHelp("Another report, or FILE:VARIANT.", valueName: "b"), completion: .file())
  var second: String?
  @OptionGroup var changes: PlanChanges<PlanDevices>
  @OptionGroup var seeds: SeedOptions
  @OptionGroup(visibility: .hidden) var costs: NoCostOptions
  @OptionGroup var files: ReportFiles
  @Flag(help: "Print the report as JSON.") var json = false

  private var isSilent: Bool { get throws { try files.replaceOutput(json: json) } }

  func validate() throws {
    guard (first == nil) == (second == nil) else {
      throw ValidationError("compare needs two reports, or none to compare variants")
    }
    if first != nil, changes.changesRuns || seeds.isGiven {
      throw ValidationError(
        "saved reports cannot be changed; remove options that change runs")
    }
    _ = try isSilent
  }

  func run() async throws {
    if let first, let second {
      try await VerbRun.report(files, json: json, isSilent: isSilent) { _ in
        let comparison = try ReportComparison(first, second)
        return try comparison.outcome(thresholds: changes.thresholds)
      }
    } else {
      try await VerbRun.run(
        Program.self, changes, files, json: json, isSilent: isSilent
      ) { plan, progress in
        try await seeds.compare(plan, progress: progress)
      }
    }
  }
}

private struct CalibrateCommand<Program: HangProgram>: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "calibrate", abstract: CalibrateHelp.abstract,
      discussion: """
        \(CalibrateHelp.discussion) The file is JSON for '--device FILE' and Device(json:).
        """)
  }

  @OptionGroup var traces: TraceArguments<PlanDevices>
  @Flag(help: "Print the costs as JSON, in nanoseconds.") var json = false

  func run() async throws {
    try await VerbRun.run(Program.self, json: json) { plan, progress in
      let here = traces.here ? try traces.localCalibration(plan, progress: progress) : nil
      let calibration = try here?.calibration ?? traces.calibration(plan.names())
      if let output = traces.output, let like = traces.like {
        let known = try PlanChanges<PlanDevices>.devices([like], from: plan.devices)[0]
        let name = output.split(separator: "/").last.map { $0.split(separator: ".")[0] } ?? ""
        let device = known.calibrated(calibration, named: String(name))
        try ReportFiles.write(device.json + "\n", to: output)
      }
      return here.map { CommandOutcome($0) } ?? CommandOutcome(calibration)
    }
  }
}
