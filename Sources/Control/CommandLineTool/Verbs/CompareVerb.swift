import ArgumentParser
import HangCommand
import Simulation
import TerminalScreen

struct CompareVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Compare two simulation reports, or the variants of a scenario over many seeds.",
    discussion: """
      A report is a file written by 'simulate --json=short' or 'sweep --json=short'. FILE:VARIANT \
      selects the runs of one variant:
        livehostctl compare report.json:tracked report.json:ignored
      Runs are matched by device, and also by variant unless one is selected.

      With --seeds, A is a scenario. Its first variant is compared with each other variant, seed \
      by seed, to determine whether they differ by more than noise.
        livehostctl compare scenario.yaml --seeds 30

      \(ComparisonHelp.thresholds)
        livehostctl compare main.json new.json --threshold 'microhangs <= base * 1.1'
      Exits with 99 if a threshold is not met, and with 78 if the scenario is invalid.

      JSON: an array of objects with device, variants and metrics; a metric has name, values and \
      unit. With --threshold, an object with this array as runs, and thresholds. With --seeds, an \
      object with version, scenario, seeds, digest, thresholds and differences.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(
    help: ArgumentHelp("A report, or FILE:VARIANT; with --seeds, a scenario.", valueName: "a"),
    completion: .file())
  var first: String
  @Argument(
    help: ArgumentHelp("Another report, or FILE:VARIANT.", valueName: "b"), completion: .file())
  var second: String?
  @OptionGroup var seeds: SeedOptions
  @OptionGroup var changes: ScenarioChanges
  @OptionGroup(visibility: .hidden) var costs: NoCostOptions
  @OptionGroup var files: ReportFiles

  private var isSilent: Bool {
    get throws { try files.replaceOutput(json: global.wantsJSON) }
  }

  func validate() throws {
    try global.refuseSocket(of: "compare")
    _ = try isSilent
    guard seeds.seeds == nil else {
      if second != nil {
        throw ValidationError("--seeds takes one scenario; remove the second file")
      }
      return
    }
    if second == nil {
      throw ValidationError("compare needs two reports, or a scenario and --seeds")
    }
    if changes.changesRuns {
      throw ValidationError("options that change a scenario require --seeds")
    }
    if !files.isEmpty, changes.thresholds.isEmpty {
      throw ValidationError(
        "a file about two reports would contain only thresholds; add --threshold")
    }
  }

  func run(_ context: Context) async throws {
    guard let second else {
      return try await context.simulate(
        first, changes, files, isSilent: isSilent, seeds.compare)
    }
    do {
      let comparison = try ReportComparison(first, second)
      if comparison.alone > 0 {
        context.console.warn(
          "\(comparison.alone) runs are ignored, because only one report contains them")
      }
      let outcome = try comparison.outcome(thresholds: changes.thresholds)
      try context.report(outcome, files, isSilent: isSilent)
    } catch {
      throw Context.failure(error)
    }
  }
}
