import ViewGraph

extension ThresholdMetric {
  /// Returns the value of the metric in the unit of bounds: nanoseconds for durations, otherwise
  /// thousandths, so that a count of 2 is 2,000 and a share of 100 % is 1,000. Returns `nil` if the
  /// run has no data for it; see ``absence(in:_:)``.
  func value(in run: RunReport, _ window: TurnWindow = TurnWindow()) -> Int64? {
    func count(_ number: Int) -> Int64 { Int64(number) * 1_000 }
    if window != TurnWindow() {
      guard let record = run.turnRecord, record.hasTurns(in: window) else { return nil }
      switch self {
      case .hangs: return count(record.count(.hang, in: window))
      case .microhangs: return count(record.count(.microhang, in: window))
      case .longest: return record.longest(in: window)
      case .over(let bound): return record.count(over: bound, in: window).map(count)
      default: break
      }
    }
    switch self {
    case .hangs: return count(run.hangs)
    case .microhangs: return count(run.microhangs)
    case .over(let bound): return run.turns(over: bound).map(count)
    case .longest: return run.longest
    case .hitch: return run.hitchPerSecond
    case .busy: return Int64(run.busyShare)
    case .frames: return count(run.frames)
    case .frozen: return run.frame.count > 0 ? count(run.frozenFrames) : nil
    case .frame(let percentile): return run.frame[percentile]
    case .actions: return count(run.actions)
    case .growth: return run.growth.map { count($0.findings.count) }
    case .received: return count(run.events.received)
    case .applied, .coalesced, .rejected, .pending:
      return run.events.received > 0 ? count(events(run.events)) : nil
    case .latency(let percentile): return run.latency[percentile]
    case .effect(let name, let metric):
      guard let effect = run.effects.first(where: { $0.name == name }) else { return nil }
      switch metric {
      case .started: return count(effect.started)
      case .failed: return effect.started > 0 ? count(effect.failed) : nil
      case .abandoned: return effect.started > 0 ? count(effect.abandoned) : nil
      case .answered(let percentile): return effect.answered[percentile]
      case .queued(let percentile): return effect.queued[percentile]
      }
    case .view(let name, let metric):
      guard let view = run.views.first(where: { $0.name == name }) else { return nil }
      switch metric {
      case .evaluations: return count(view.evaluations)
      case .avoidable: return count(view.avoidable)
      case .mean: return view.mean
      case .self: return view.selfMean
      case .p95: return view.p95
      case .max: return view.max
      case .growth:
        return run.growth?.perElement(
          of: GrowthSubject(kind: .view, name: name), slowdown: run.slowdown)
      }
    case .action(let name, .growth):
      return run.growth?.perElement(
        of: GrowthSubject(kind: .action, name: name), slowdown: run.slowdown)
    }
  }

  private func events(_ totals: EventTotals) -> Int {
    switch self {
    case .applied: totals.applied
    case .coalesced: totals.coalesced
    case .rejected: totals.rejected
    default: totals.pending
    }
  }

  /// Returns the reason why the run has no value of the metric.
  func absence(in run: RunReport, _ window: TurnWindow) -> String {
    switch self {
    case .growth: return "growth was not measured"
    case .view(let name, .growth), .action(let name, .growth):
      let kind = growthSubject?.kind ?? .view
      return run.growth?.absence(of: GrowthSubject(kind: kind, name: name))
        ?? "growth was not measured"
    case .view(let name, _): return "\(name) never appeared"
    case .effect(let name, _):
      let effect = run.effects.first { $0.name == name }
      guard let effect else { return "there is no effect '\(name)'" }
      return effect.started == 0 ? "no \(name) was started" : "no run of \(name) reached this stage"
    case .frame, .frozen: return "no frame was drawn"
    case .applied, .coalesced, .rejected, .pending, .latency: return "no event arrived"
    case .over, .hangs, .microhangs, .longest, .hitch, .busy, .frames, .actions, .received:
      guard let record = run.turnRecord else { return "the report does not contain the metric" }
      if window != TurnWindow(), !record.hasTurns(in: window) {
        return "no turn began after \(FixedPoint.seconds(window.start))"
      }
      return "turns shorter than a microhang are not recorded individually"
    }
  }

  func text(_ value: Int64) -> String {
    switch unit {
    case .count: plain(value)
    case .share: plain(value) + "%"
    case .milliseconds: plain(value) + "ms"
    case .millisecondsPerSecond: plain(value) + "ms/s"
    }
  }

  func plain(_ value: Int64) -> String {
    switch unit {
    case .count: FixedPoint.text(value, decimals: 3, trimmed: true)
    case .share: FixedPoint.text(value, decimals: 1, trimmed: true)
    case .milliseconds, .millisecondsPerSecond: FixedPoint.milliseconds(value)
    }
  }

  /// Returns the value written by ``plain(_:)``.
  func value(plain: Double) -> Int64? {
    let scale =
      switch unit {
      case .count: 1e3
      case .share: 10.0
      case .milliseconds, .millisecondsPerSecond: 1e6
      }
    return Int64(exactly: (plain * scale).rounded())
  }
}

extension RunReport {
  /// Returns how many turns were at least this long; `nil` if that was not recorded.
  fileprivate func turns(over bound: Int64) -> Int? {
    if let turnRecord { return turnRecord.count(over: bound, in: TurnWindow()) }
    switch UInt64(bound) {
    case HangBounds.platform.microhang: return microhangs + hangs
    case HangBounds.platform.hang: return hangs
    default: return nil
    }
  }
}

extension Percentiles {
  /// Returns a percentile; `nil` if there were no durations.
  fileprivate subscript(percentile: ThresholdMetric.Percentile) -> Int64? {
    guard count > 0 else { return nil }
    switch percentile {
    case .p50: return p50
    case .p95: return p95
    case .p99: return p99
    case .max: return max
    }
  }
}
