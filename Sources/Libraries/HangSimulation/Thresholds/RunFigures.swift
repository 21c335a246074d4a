/// The figures of a variant on a device, for one or more seeds.
struct RunFigures {
  let device: String
  let variant: String
  /// The runs, one for each seed; empty if only ``recorded`` is known.
  var runs: [RunReport] = []
  /// The figures read from a sweep's report, one for each seed, by metric.
  var recorded: [ThresholdMetric: [Int64?]] = [:]
  let seeds: [UInt64]

  /// Returns the runs of all seeds, in the order of the first report.
  static func all(_ reports: [SimulationReport]) -> [RunFigures] {
    (reports.first?.runs ?? []).map { first in
      let runs = reports.compactMap { report in
        report.run(device: first.device, variant: first.variant).map { ($0, report.seed) }
      }
      return RunFigures(
        device: first.device, variant: first.variant, runs: runs.map(\.0), seeds: runs.map(\.1))
    }
  }

  struct Value {
    var value: Int64
    var seed: UInt64
  }

  /// Returns the values of a metric, one for each seed with data.
  func values(of metric: ThresholdMetric, _ window: TurnWindow = TurnWindow()) -> [Value] {
    let values =
      if runs.isEmpty {
        window == TurnWindow() ? recorded[metric] ?? [] : []
      } else {
        runs.map { metric.value(in: $0, window) }
      }
    return zip(values, seeds).compactMap { value, seed in
      value.map { Value(value: $0, seed: seed) }
    }
  }

  /// Returns the reason why no seed has a value.
  func absence(of metric: ThresholdMetric, _ window: TurnWindow) -> String {
    runs.first.map { metric.absence(in: $0, window) } ?? "the report does not contain the metric"
  }

  /// Returns lines that explain the value of a metric in the run of a seed.
  func explanation(of metric: ThresholdMetric, _ window: TurnWindow, seed: UInt64) -> [String] {
    guard let index = seeds.firstIndex(of: seed), index < runs.count else { return [] }
    return metric.explanation(in: runs[index], window)
  }
}
