package import JSON

/// The figures of a report file, of one seed (`simulate`) or of many seeds (`sweep`).
package struct ReportFigures: Sendable {
  /// The runs in the order of the report.
  package private(set) var runs: [RunMetrics] = []
  let figures: [RunFigures]

  /// Reads a report. The result is `nil` if `json` is not a report.
  package init?(_ json: JSONValue) {
    guard let list = json["runs"]?.arrayValue, !list.isEmpty else { return nil }
    if let seeds = json["seeds"]?.arrayValue {
      let numbers = seeds.map(\.seed)
      figures = list.compactMap { RunFigures(json: $0, seeds: numbers) }
      runs = list.compactMap(RunMetrics.init(swept:))
    } else {
      let reports = list.compactMap(RunReport.init(json:))
      let seed = json["seed"]?.seed ?? 0
      figures = reports.map {
        RunFigures(device: $0.device, variant: $0.variant, runs: [$0], seeds: [seed])
      }
      runs = reports.map(RunMetrics.init)
    }
    if figures.isEmpty { return nil }
  }

  private init(runs: [RunMetrics], figures: [RunFigures]) {
    (self.runs, self.figures) = (runs, figures)
  }

  /// Returns the runs of a variant.
  package func only(_ variant: String) -> ReportFigures {
    ReportFigures(
      runs: runs.filter { $0.variant == variant }, figures: figures.filter { $0.variant == variant }
    )
  }
}

extension Threshold {
  /// Checks the names of devices and variants.
  package func checkScope(_ report: ReportFigures, _ base: ReportFigures) throws(ThresholdProblem) {
    let runs = report.runs + base.runs
    try scope?.check(devices: runs.map(\.device), variants: runs.map(\.variant))
  }

  /// Checks the runs of a report against the base's runs of the same devices, and of the same
  /// variants if `matchingVariants` is true.
  package func check(
    _ report: ReportFigures, base: ReportFigures, matchingVariants: Bool
  ) -> ThresholdReport {
    check(report.figures) { run in
      base.figures.first {
        $0.device == run.device && (!matchingVariants || $0.variant == run.variant)
      }
    }
  }
}

extension RunFigures {
  /// Reads a run of a sweep.
  fileprivate init?(json: JSONValue, seeds: [UInt64]) {
    guard let device = json["device"]?.stringValue, let variant = json["variant"]?.stringValue
    else { return nil }
    var recorded: [ThresholdMetric: [Int64?]] = [:]
    for (name, figure) in json["metrics"]?.objectValue ?? [:] {
      guard let metric = try? ThresholdMetric(name.text), let values = figure["values"]?.arrayValue
      else { continue }
      recorded[metric] = values.map { $0.double.flatMap(metric.value(plain:)) }
    }
    self.init(device: device, variant: variant, recorded: recorded, seeds: seeds)
  }
}

extension RunMetrics {
  /// Reads the medians of a run of a sweep.
  fileprivate init?(swept json: JSONValue) {
    guard let device = json["device"]?.stringValue, let variant = json["variant"]?.stringValue
    else { return nil }
    self.init(device: device, variant: variant, metrics: [])
    for (name, figure) in (json["metrics"]?.objectValue ?? [:]).sorted(by: { $0.key < $1.key }) {
      guard let metric = try? ThresholdMetric(name.text) else { continue }
      let values = (figure["values"]?.arrayValue ?? []).compactMap {
        $0.double.flatMap(metric.value(plain:))
      }
      guard !values.isEmpty else { continue }
      let median = metric.shown(values.sorted()[(values.count - 1) / 2])
      metrics.append(Metric("\(name.text), median\(metric.suffix)", median))
    }
  }
}

extension ThresholdMetric {
  /// The unit as a suffix of a row's name.
  fileprivate var suffix: String {
    switch unit {
    case .count: ""
    case .share: ", %"
    case .milliseconds: ", ms"
    case .millisecondsPerSecond: ", ms/s"
    }
  }

  fileprivate func shown(_ value: Int64) -> RunMetrics.Value {
    switch unit {
    case .count: .count(Int(value / 1_000))
    case .share: .share(Int(value))
    case .milliseconds, .millisecondsPerSecond: .time(value)
    }
  }
}

extension JSONValue {
  fileprivate var seed: UInt64 {
    if case .integer(let number) = self { return UInt64(clamping: number) }
    return double.flatMap(UInt64.init(exactly:)) ?? 0
  }
}
