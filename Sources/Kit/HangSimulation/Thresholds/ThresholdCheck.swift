extension Threshold {
  /// Checks the names of views and effects.
  package func check(views: [String], effects: [String]) throws(ThresholdProblem) {
    try metric.check(views: views, effects: effects)
  }

  /// Checks every run that the threshold applies to. If there are none, it is met.
  func check(_ runs: [RunReport]) -> ThresholdReport {
    var worst: Int64?
    var failures: [String] = []
    for run in runs where scope == nil || scope == run.variant || scope == run.device {
      let value = metric.value(in: run)
      if !comparison.holds(value, bound) { failures.append("\(run.device), \(run.variant)") }
      worst = worst.map { isWorse(value, than: $0) ? value : $0 } ?? value
    }
    return ThresholdReport(
      text: text, value: worst.map(metric.text) ?? "no run", passed: failures.isEmpty,
      failures: failures)
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
  func value(in run: RunReport) -> Int64 {
    func count(_ number: Int) -> Int64 { Int64(number) * 1_000 }
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
