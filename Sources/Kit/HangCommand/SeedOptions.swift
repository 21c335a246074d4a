import Foundation
package import HangSimulation

#if canImport(ArgumentParser)
  package import ArgumentParser
#endif

/// Which seeds to run, and how many at a time.
package struct SeedOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "How many seeds. Default: 100; of 'sweep --find' the one of the simulation.", valueName: "n"))
  package var seeds: Int?
  @Option(
    name: .customLong("first-seed"),
    help: ArgumentHelp("The first of them. Default: 1.", valueName: "n"))
  var firstSeed: UInt64?
  @Option(
    help: ArgumentHelp(
      "How many run at the same time; the result does not depend on it. Default: one per processor.",
      valueName: "n"))
  var workers: Int?

  package init() {}

  package func validate() throws {
    guard seeds.map({ (1...100_000).contains($0) }) ?? true else {
      throw ValidationError("--seeds is from 1 to 100000")
    }
    guard firstSeed.map({ $0 <= .max - 100_000 }) ?? true else {
      throw ValidationError("--first-seed is too large")
    }
    guard workers.map({ (1...1_000).contains($0) }) ?? true else {
      throw ValidationError("--workers is from 1 to 1000")
    }
  }

  /// - Parameter count: how many, if the command line does not say.
  func list(of count: Int) -> [UInt64] {
    (0..<UInt64(seeds ?? count)).map { (firstSeed ?? 1) + $0 }
  }

  var isGiven: Bool { seeds != nil || firstSeed != nil || workers != nil }

  /// `nil` if the command line says nothing of seeds.
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
      throw ValidationError("there is only one variant, and nothing to compare it with")
    }
    let report = try await sweep(plan, progress)
    return CommandOutcome(
      title: plan.name, lines: report.comparisonLines, json: report.comparisonJSON,
      thresholds: report.thresholds)
  }
}

/// What both programs say about `compare`.
package enum ComparisonHelp {
  package static let thresholds = """
    A --threshold may be relative to the first report, or to the first variant: 'microhangs <= base * 1.1'. Of six seeds or \
    more the means have to differ by more than noise, of fewer they only have to differ.
    """
}

/// The options of `sweep`.
package struct SweepOptions: ParsableArguments {
  package static let abstract =
    "Run many seeds and report how the figures are distributed over them."
  package static let discussion = """
    All seeds have to meet a threshold such as 'hangs == 0'; 'p95(microhangs) < 12' is about the \
    percentile of the seeds.

    --find device.slowdown makes each device slower, and --find load lets more events come, until the condition of \
    --where holds for all seeds or for the percentile that it asks for. The factor is bisected to 1 %. The \
    seed of the simulation is run unless --seeds or --first-seed is given.
    """

  /// What `--find` can look for.
  enum Target: String, ExpressibleByArgument, CaseIterable {
    case slowdown = "device.slowdown"
    case load
  }

  @OptionGroup var seeds: SeedOptions
  @OptionGroup var costs: CostOptions
  @Option(help: ArgumentHelp("Find the lowest value at which --where holds.", valueName: "what"))
  var find: Target?
  @Option(
    name: .customLong("where"),
    help: ArgumentHelp("What has to hold, such as 'hangs > 0'.", valueName: "condition"))
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
      throw ValidationError("--find and --where belong together")
    }
    if find != nil {
      try costs.refuseMeasured(
        "--find searches with assumed costs, which give the same result each time")
    }
    guard find == nil || html == nil else {
      throw ValidationError("--find has no page; leave out --html")
    }
    guard let limit else { return }
    guard find != nil else { throw ValidationError("--up-to belongs to --find") }
    guard (1...1_000).contains(limit) else {
      throw ValidationError("--up-to is from 1 to 1000")
    }
  }

  /// Refuses a file that would say nothing.
  package func refuse(_ files: ReportFiles) throws {
    guard find == nil || files.junit == nil else {
      throw ValidationError("--find checks no thresholds; leave out --junit")
    }
  }

  /// Runs the seeds, or finds what is asked for.
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
