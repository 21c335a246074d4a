import ViewGraph

extension Threshold {
  /// Checks the names of views, action kinds, and effects, and that the window is not empty.
  package func check(
    views: [String], actions: [String], effects: [String], duration: VirtualTime
  ) throws(ThresholdProblem) {
    try metric.check(views: views, actions: actions, effects: effects)
    guard window.start < duration.nanoseconds else {
      throw ThresholdProblem(
        "'after' excludes the whole simulation of \(FixedPoint.seconds(duration.nanoseconds))")
    }
  }

  /// Whether the threshold applies to these runs.
  func concerns(device: String, variant: String) -> Bool {
    scope?.contains(device: device, variant: variant) ?? true
  }

  /// Checks every run to which the threshold applies. The base is the first variant.
  func check(_ reports: [SimulationReport]) -> ThresholdReport {
    let all = RunFigures.all(reports)
    return check(all) { run in
      guard let first = all.first?.variant, first != run.variant else { return nil }
      return all.first { $0.device == run.device && $0.variant == first }
    }
  }

  /// Checks every run to which the threshold applies. `base` returns the base of a run, or `nil` if
  /// there is none.
  func check(_ all: [RunFigures], base: (RunFigures) -> RunFigures?) -> ThresholdReport {
    if let skipped = reasonToSkip(all, base) {
      return ThresholdReport(text: text, value: "not checked", failures: [], skipped: skipped)
    }
    var worst: Int64?
    var failures: [ThresholdReport.Failure] = []
    var withoutData: [ThresholdReport.Failure] = []
    for run in all where concerns(device: run.device, variant: run.variant) {
      let base = bound.isRelative ? base(run) : nil
      if bound.isRelative, base == nil { continue }
      switch judge(run, base) {
      case .missing(let reason):
        withoutData.append(
          ThresholdReport.Failure(
            device: run.device, variant: run.variant,
            value: "\(ThresholdReport.nothing) (\(reason))",
            seed: run.seeds.first ?? 0, failedSeeds: 1, seeds: 1))
      case .found(let value, let failure):
        if var failure {
          failure.explanation = run.explanation(of: metric, window, seed: failure.seed)
          failures.append(failure)
        }
        worst = worst.map { isWorse(value, than: $0) ? value : $0 } ?? value
      }
    }
    var report = ThresholdReport(
      text: text, value: worst.map(metric.text) ?? ThresholdReport.nothing,
      failures: worst == nil ? withoutData : failures)
    if worst != nil { report.withoutData = withoutData }
    return report
  }

  /// Returns why the threshold is not checked; `nil` if it can be checked.
  private func reasonToSkip(_ all: [RunFigures], _ base: (RunFigures) -> RunFigures?) -> String? {
    let concerned = all.filter { concerns(device: $0.device, variant: $0.variant) }
    if let scope, concerned.isEmpty { return "no run of \(scope.text) was selected" }
    if bound.isRelative, !concerned.contains(where: { base($0) != nil }) {
      return "there is no base (the first variant, or the first report of 'compare')"
    }
    if let percentile, concerned.allSatisfy({ $0.seeds.count < 2 }) {
      return "p\(percentile) needs \(Self.seeds(for: percentile)) seeds; 'sweep' runs several"
    }
    return nil
  }

  /// Returns the number of seeds that a percentile needs. With fewer seeds, a percentile would
  /// equal the minimum or maximum.
  private static func seeds(for percentile: Int) -> Int {
    let rest = min(percentile, 100 - percentile)
    return (100 + rest - 1) / rest
  }

  // MARK: One run

  private enum Judgement {
    case missing(String)
    case found(Int64, ThresholdReport.Failure?)
  }

  private func judge(_ run: RunFigures, _ base: RunFigures?) -> Judgement {
    let values = run.values(of: metric, window)
    guard !values.isEmpty else { return .missing(run.absence(of: metric, window)) }
    if let percentile, values.count < Self.seeds(for: percentile) {
      let needed = Self.seeds(for: percentile)
      return .missing("p\(percentile) needs \(needed) seeds; only \(values.count) have data")
    }
    guard let base else {
      let found = decisive(values)
      let failed = values.count { !comparison.holds($0.value, bound.value()) }
      let holds = comparison.holds(found.value, bound.value())
      return .found(found.value, holds ? nil : failure(of: run, found, failed, of: values.count))
    }
    let others = base.values(of: metric, window)
    guard !others.isEmpty else {
      return .missing("in the base, \(base.absence(of: metric, window))")
    }
    return percentile == nil
      ? judge(run, values, pairedWith: others)
      : judge(run, decisive(values), against: decisive(others).value)
  }

  private func judge(
    _ run: RunFigures, _ found: RunFigures.Value, against base: Int64
  ) -> Judgement {
    if comparison.holds(found.value, bound.value(base: base)) { return .found(found.value, nil) }
    return .found(found.value, failure(of: run, found, 1, of: 1, base: base))
  }

  /// Compares seed by seed. The condition fails only if the means violate the bound and, with
  /// enough seeds, the difference is significant.
  private func judge(
    _ run: RunFigures, _ values: [RunFigures.Value], pairedWith others: [RunFigures.Value]
  ) -> Judgement {
    if values.count == 1, others.count == 1 {
      return judge(run, values[0], against: others[0].value)
    }
    let pairs = SeedPairs(values, others, bound)
    guard let found = pairs.mean(\.found), let base = pairs.mean(\.base) else {
      return .missing("the base has no seed in common with the run")
    }
    let failed = pairs.list.filter { !comparison.holds($0.found, $0.bound) }
    guard let worst = failed.max(by: { isWorse($1.found, than: $0.found) }),
      !comparison.holds(pairs.sum(\.found), pairs.sum(\.bound)), !pairs.mayBeNoise
    else { return .found(found, nil) }
    return .found(
      found,
      failure(
        of: run, RunFigures.Value(value: found, seed: worst.seed), failed.count,
        of: pairs.list.count, base: base))
  }

  private func failure(
    of run: RunFigures, _ found: RunFigures.Value, _ failed: Int, of seeds: Int,
    base: Int64? = nil
  ) -> ThresholdReport.Failure {
    ThresholdReport.Failure(
      device: run.device, variant: run.variant, value: metric.text(found.value),
      base: base.map(metric.text), seed: found.seed, failedSeeds: failed, seeds: seeds)
  }

  /// Returns the decisive value: the percentile, or the first of the worst values.
  private func decisive(_ values: [RunFigures.Value]) -> RunFigures.Value {
    if let percentile {
      let sorted = values.sorted { ($0.value, $0.seed) < ($1.value, $1.seed) }
      return sorted[(sorted.count * percentile + 99) / 100 - 1]
    }
    return values.dropFirst().reduce(values[0]) { isWorse($1.value, than: $0.value) ? $1 : $0 }
  }

  private func isWorse(_ value: Int64, than other: Int64) -> Bool {
    switch comparison {
    case .less, .lessOrEqual: value > other
    case .greater, .greaterOrEqual: value < other
    case .equal: distance(value) > distance(other)
    case .notEqual: distance(value) < distance(other)
    }
  }

  private func distance(_ value: Int64) -> Int64 { abs(value - bound.value()) }
}
