import ArgumentParser
import HangCommand
import HangSimulation
import JSON
import Simulation

struct CompareVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Compare two simulation reports, or the variants of a scenario over many seeds.",
    discussion: """
      A report is a file written by 'simulate --json=short'. FILE:VARIANT selects the runs of one variant:
        livehostctl compare report.json:tracked report.json:ignored
      Runs are matched by device, and by variant where none is selected.

      With --seeds, A is a scenario, and the first of its variants is compared with each other one, seed by seed: whether they differ by more than noise.
        livehostctl compare scenario.yaml --seeds 30
      Exits with 99 if a threshold is not met, and with 78 if the scenario is invalid.

      JSON: an array of objects with device, variants and metrics; a metric has name, values and unit. With \
      --seeds, an object with version, scenario, seeds, digest, thresholds and differences.
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
  @OptionGroup var files: ReportFiles

  func validate() throws {
    try global.refuseSocket(of: "compare")
    guard seeds.seeds == nil else {
      if second != nil { throw ValidationError("with --seeds there is one scenario") }
      return
    }
    if second == nil {
      throw ValidationError("compare needs two reports, or a scenario and --seeds")
    }
    if !changes.isEmpty || !files.isEmpty {
      throw ValidationError("options that change a scenario or write files need --seeds")
    }
  }

  func run(_ context: Context) async throws {
    guard let second else {
      return try await context.simulate(first, changes, files, seeds.compare)
    }
    let left = try ReportFile(first)
    let right = try ReportFile(second)
    let byDevice = left.variant != nil || right.variant != nil
    var pairs: [(RunMetrics, RunMetrics)] = []
    for run in left.runs {
      let match = right.runs.first {
        $0.device == run.device && (byDevice || $0.variant == run.variant)
      }
      if let match { pairs.append((run, match)) }
    }
    guard !pairs.isEmpty else {
      throw Failure(.badData, "\(first) and \(second) have no run in common")
    }
    let alone = left.runs.count + right.runs.count - 2 * pairs.count
    if alone > 0 { context.console.warn("\(alone) runs are in one of the two only, ignoring") }
    try context.print(.array(pairs.map(Self.json))) { pairs.flatMap(Self.lines) }
  }

  private static func lines(_ left: RunMetrics, _ right: RunMetrics) -> [String] {
    let headings =
      left.variant == right.variant
      ? ["\(left.variant) (a)", "\(right.variant) (b)"] : [left.variant, right.variant]
    return [left.device] + RunComparison.lines([left, right], headings: headings) + [""]
  }

  private static func json(_ left: RunMetrics, _ right: RunMetrics) -> JSONValue {
    let metrics = left.metrics.map { metric -> JSONValue in
      let other = right.metrics.first { $0.name == metric.name }?.value ?? .none
      return [
        "name": .string(metric.name), "values": [metric.value.json, other.json],
        "unit": .string(metric.value.unit),
      ]
    }
    return [
      "device": .string(left.device),
      "variants": [.string(left.variant), .string(right.variant)],
      "metrics": .array(metrics),
    ]
  }
}

extension RunMetrics.Value {
  fileprivate var json: JSONValue {
    switch self {
    case .count(let number): .integer(Int64(number))
    case .time(let nanoseconds): .number(Double(nanoseconds) / 1e6)
    case .share(let thousandths): .number(Double(thousandths) / 10)
    case .none: .null
    }
  }

  fileprivate var unit: String {
    switch self {
    case .count, .none: "count"
    case .time: "ms"
    case .share: "%"
    }
  }
}
