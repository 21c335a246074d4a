import ViewGraph

extension Threshold {
  /// Checks the names of views and effects, and that there are turns that it can be about.
  package func check(
    views: [String], effects: [String], duration: VirtualTime
  ) throws(ThresholdProblem) {
    try metric.check(views: views, effects: effects)
    guard window.start < duration.nanoseconds else {
      let seconds = FixedPoint.text(duration.milliseconds, decimals: 3, trimmed: true)
      throw ThresholdProblem("'after' leaves nothing of a simulation of \(seconds) s")
    }
  }

  /// Whether it applies to these runs.
  func concerns(device: String, variant: String) -> Bool {
    scope == nil || scope == variant || scope == device
  }

  /// Checks every run that the threshold applies to, of one seed or of several. If there are none, it is met.
  func check(_ reports: [SimulationReport]) -> ThresholdReport {
    var worst: Int64?
    var failures: [ThresholdReport.Failure] = []
    for run in reports.first?.runs ?? []
    where concerns(device: run.device, variant: run.variant) {
      let values = reports.compactMap { report in
        report.run(device: run.device, variant: run.variant).map {
          (value: metric.value(in: $0, window), seed: report.seed)
        }
      }
      guard let found = decisive(values) else { continue }
      let failed = values.count { !comparison.holds($0.value, bound) }
      if !comparison.holds(found.value, bound) {
        failures.append(
          ThresholdReport.Failure(
            device: run.device, variant: run.variant, value: metric.text(found.value),
            seed: found.seed, failedSeeds: failed, seeds: values.count))
      }
      worst = worst.map { isWorse(found.value, than: $0) ? found.value : $0 } ?? found.value
    }
    return ThresholdReport(
      text: text, value: worst.map(metric.text) ?? "no run", failures: failures)
  }

  /// The value that decides: the percentile, or the first of the worst.
  private func decisive(
    _ values: [(value: Int64, seed: UInt64)]
  ) -> (value: Int64, seed: UInt64)? {
    if let percentile {
      let sorted = values.sorted { ($0.value, $0.seed) < ($1.value, $1.seed) }
      return sorted.isEmpty ? nil : sorted[(sorted.count * percentile + 99) / 100 - 1]
    }
    guard var worst = values.first else { return nil }
    for value in values where isWorse(value.value, than: worst.value) { worst = value }
    return worst
  }

  private func isWorse(_ value: Int64, than other: Int64) -> Bool {
    switch comparison {
    case .less, .lessOrEqual: value > other
    case .greater, .greaterOrEqual: value < other
    case .equal: distance(value) > distance(other)
    case .notEqual: distance(value) < distance(other)
    }
  }

  private func distance(_ value: Int64) -> Int64 { abs(value - bound) }
}

extension ThresholdMetric {
  /// In the unit of bounds: nanoseconds, or thousandths of a count.
  func value(in run: RunReport, _ window: TurnWindow = TurnWindow()) -> Int64 {
    func count(_ number: Int) -> Int64 { Int64(number) * 1_000 }
    if window != TurnWindow() {
      switch self {
      case .hangs: return count(run.turnRecord.count(.hang, in: window))
      case .microhangs: return count(run.turnRecord.count(.microhang, in: window))
      case .longest: return run.turnRecord.longest(in: window)
      default: break
      }
    }
    switch self {
    case .hangs: return count(run.hangs)
    case .microhangs: return count(run.microhangs)
    case .longest: return run.longest
    case .hitch: return run.hitchPerSecond
    case .frames: return count(run.frames)
    case .actions: return count(run.actions)
    case .received: return count(run.events.received)
    case .applied: return count(run.events.applied)
    case .coalesced: return count(run.events.coalesced)
    case .rejected: return count(run.events.rejected)
    case .pending: return count(run.events.pending)
    case .latency(let percentile): return run.latency[percentile]
    case .effect(let name, let metric):
      guard let effect = run.effects.first(where: { $0.name == name }) else { return 0 }
      switch metric {
      case .started: return count(effect.started)
      case .failed: return count(effect.failed)
      case .abandoned: return count(effect.abandoned)
      case .answered(let percentile): return effect.answered[percentile]
      case .queued(let percentile): return effect.queued[percentile]
      }
    case .view(let name, let metric):
      guard let view = run.views.first(where: { $0.name == name }) else { return 0 }
      switch metric {
      case .evaluations: return count(view.evaluations)
      case .avoidable: return count(view.avoidable)
      case .mean: return view.mean
      case .self: return view.selfMean
      case .p95: return view.p95
      case .max: return view.max
      }
    }
  }

  func text(_ value: Int64) -> String {
    switch unit {
    case .count: FixedPoint.text(value, decimals: 3, trimmed: true)
    case .milliseconds: FixedPoint.milliseconds(value) + "ms"
    case .millisecondsPerSecond: FixedPoint.milliseconds(value) + "ms/s"
    }
  }
}

extension Percentiles {
  fileprivate subscript(percentile: ThresholdMetric.Percentile) -> Int64 {
    switch percentile {
    case .p50: p50
    case .p95: p95
    case .p99: p99
    case .max: max
    }
  }
}
