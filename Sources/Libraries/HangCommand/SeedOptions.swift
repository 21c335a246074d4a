import Foundation
package import HangSimulation

#if canImport(ArgumentParser)
  package import ArgumentParser
#endif

/// Options for the seeds and the number of workers.
package struct SeedOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The number of seeds. Default: 100; 'sweep --find': only the plan's seed.", valueName: "n"))
  package var seeds: Int?
  @Option(
    name: .customLong("first-seed"),
    help: ArgumentHelp("The first seed. Default: 1.", valueName: "n"))
  var firstSeed: UInt64?
  @Option(
    help: ArgumentHelp(
      "The number of concurrent runs; it does not affect the result. Default: one per processor.",
      valueName: "n"))
  var workers: Int?

  package init() {}

  package func validate() throws {
    guard seeds.map({ (1...100_000).contains($0) }) ?? true else {
      throw ValidationError("--seeds must be from 1 to 100000")
    }
    guard firstSeed.map({ $0 <= .max - 100_000 }) ?? true else {
      throw ValidationError("--first-seed is too large")
    }
    guard workers.map({ (1...1_000).contains($0) }) ?? true else {
      throw ValidationError("--workers must be from 1 to 1000")
    }
  }

  /// Returns the seeds: `count` seeds if the command line does not set the number.
  func list(of count: Int) -> [UInt64] {
    (0..<UInt64(seeds ?? count)).map { (firstSeed ?? 1) + $0 }
  }

  var isGiven: Bool { seeds != nil || firstSeed != nil || workers != nil }

  /// The seeds of the command line; `nil` if it contains none.
  var explicit: [UInt64]? { seeds == nil && firstSeed == nil ? nil : list(of: 1) }

  var workerCount: Int { workers ?? ProcessInfo.processInfo.activeProcessorCount }

  func sweep(_ plan: SimulationPlan, _ progress: (_ percent: Int) -> Void) async throws
    -> SweepReport
  {
    let seeds = list(of: 100)
    return try await plan.sweep(seeds: seeds, workers: workerCount) {
      progress($0 * 100 / seeds.count)
    }
  }

  /// Compares the plan's first variant with the others.
  package func compare(
    _ plan: SimulationPlan, progress: (_ percent: Int) -> Void
  ) async throws -> CommandOutcome {
    guard plan.variants.count > 1 else {
      throw ValidationError("the plan has only one variant; comparing needs at least two")
    }
    let report = try await sweep(plan, progress)
    return CommandOutcome(
      title: plan.name, lines: report.comparisonLines, json: report.comparisonJSON,
      thresholds: report.thresholds)
  }
}

/// The help text that both programs share for `compare`.
package enum ComparisonHelp {
  package static let thresholds = """
    A --threshold may be relative to the first report or variant: 'microhangs <= base * 1.1'. With \
    six or more seeds, it is missed only if the means miss it by more than noise; with fewer, the \
    means alone decide.
    """
}

/// The options of `sweep`.
package struct SweepOptions: ParsableArguments {
  package static let abstract =
    "Run many seeds and report the distribution of the figures."
  package static let discussion = """
    All seeds must meet a threshold such as 'hangs == 0'. 'p95(microhangs) < 12' checks the \
    percentile over the seeds.

    --find device.slowdown slows each device down, and --find load increases the event rates, \
    until the condition of --where holds for all seeds (or for its percentile). The factor is \
    bisected to 1 %. Without --seeds or --first-seed, only the seed of the simulation is run.
    """

  /// The quantities that `--find` can search.
  enum Target: String, ExpressibleByArgument, CaseIterable {
    case slowdown = "device.slowdown"
    case load
  }

  @OptionGroup var seeds: SeedOptions
  @OptionGroup var costs: CostOptions
  @Option(
    help: ArgumentHelp(
      "Find the lowest factor at which the condition --where is true.", valueName: "what"))
  var find: Target?
  @Option(
    name: .customLong("where"),
    help: ArgumentHelp("A condition, such as 'hangs > 0'.", valueName: "condition"))
  var condition: String?
  @Option(
    name: .customLong("up-to"),
    help: ArgumentHelp(
      "The highest factor that --find tries. Default: 64.", valueName: "factor"))
  var limit: Double?
  @Option(
    help: ArgumentHelp("Write the report as an HTML page with charts.", valueName: "file"),
    completion: .file())
  package var html: String?

  package init() {}

  package func validate() throws {
    if (find == nil) != (condition == nil) {
      throw ValidationError("--find and --where must be used together")
    }
    if find != nil {
      try costs.refuseMeasured(
        "--find searches with assumed costs, for reproducible results")
    }
    guard find == nil || html == nil else {
      throw ValidationError("--find does not write an HTML page; remove --html")
    }
    guard let limit else { return }
    guard find != nil else { throw ValidationError("--up-to needs --find") }
    guard (1...1_000).contains(limit) else {
      throw ValidationError("--up-to must be from 1 to 1000")
    }
  }

  /// Rejects a JUnit file for a search, which checks no thresholds.
  package func refuse(_ files: ReportFiles) throws {
    guard find == nil || files.junit == nil else {
      throw ValidationError("--find does not check thresholds; remove --junit")
    }
  }

  /// Runs all seeds, or the search of `--find`.
  package func run(
    _ plan: SimulationPlan, progress: (_ percent: Int) -> Void
  ) async throws -> CommandOutcome {
    guard let condition else {
      var plan = plan
      costs.apply(to: &plan, repeats: 1)
      let report = try await seeds.sweep(plan, progress)
      if let html { try ReportFiles.write(report.html, to: html) }
      return CommandOutcome(report, title: plan.name)
    }
    let threshold = try Threshold(option: "--where", condition)
    let search = find == .load ? plan.findLoad : plan.findSlowdown
    let found = try await search(
      threshold, 1...(limit ?? 64), seeds.explicit, seeds.workerCount
    ) { progress($0 * 100 / $1) }
    return CommandOutcome(found, title: plan.name)
  }
}
