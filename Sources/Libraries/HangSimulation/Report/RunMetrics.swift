/// The rows of a run in tables: names and values, in the same order everywhere.
package struct RunMetrics: Sendable, Hashable {
  package var device: String
  package var variant: String
  package var metrics: [Metric]

  package struct Metric: Sendable, Hashable {
    package var name: String
    package var value: Value

    package init(_ name: String, _ value: Value) {
      self.name = name
      self.value = value
    }
  }

  package enum Value: Sendable, Hashable {
    case count(Int)
    /// A time in nanoseconds, shown in milliseconds.
    case time(Int64)
    /// A share in thousandths, shown as a percentage.
    case share(Int)
    /// No value, such as the mean when there were no evaluations.
    case none

    /// The text in tables.
    package var text: String {
      switch self {
      case .count(let number): String(number)
      case .time(let nanoseconds): FixedPoint.milliseconds(nanoseconds, decimals: 1)
      case .share(let thousandths): FixedPoint.text(Int64(thousandths), decimals: 1)
      case .none: "-"
      }
    }

    var number: Int64? {
      switch self {
      case .count(let number): Int64(number)
      case .time(let nanoseconds): nanoseconds
      case .share(let thousandths): Int64(thousandths)
      case .none: nil
      }
    }
  }

  /// The metrics of the screen's smoothness.
  var summary: RunMetrics {
    RunMetrics(device: device, variant: variant, metrics: Array(metrics.prefix(Self.summaryCount)))
  }

  /// The number of leading metrics that ``summary`` contains, up to the latencies.
  private static let summaryCount = 11

  package init(device: String, variant: String, metrics: [Metric]) {
    self.device = device
    self.variant = variant
    self.metrics = metrics
  }

  package init(_ run: RunReport) {
    device = run.device
    variant = run.variant
    metrics = [
      Metric("microhangs", .count(run.microhangs)), Metric("hangs", .count(run.hangs)),
      Metric("longest turn, ms", .time(run.longest)),
      Metric("frame p95, ms", run.frame.count > 0 ? .time(run.frame.p95) : .none),
      Metric("frozen frames", run.frame.count > 0 ? .count(run.frozenFrames) : .none),
      Metric("hitches, ms/s", .time(run.hitchPerSecond)),
      Metric("thread busy, %", .share(run.busyShare)),
      Metric("latency p50, ms", .time(run.latency.p50)),
      Metric("latency p95, ms", .time(run.latency.p95)),
      Metric("latency p99, ms", .time(run.latency.p99)),
      Metric("latency max, ms", .time(run.latency.max)),
      Metric("events received", .count(run.events.received)),
      Metric("events coalesced", .count(run.events.coalesced)),
      Metric("events rejected", .count(run.events.rejected)),
      Metric("events pending", .count(run.events.pending)),
      Metric("actions", .count(run.actions)), Metric("frames", .count(run.frames)),
    ]
    for effect in run.effects {
      metrics += [
        Metric("\(effect.name) started", .count(effect.started)),
        Metric("\(effect.name) failed", .count(effect.failed)),
        Metric("\(effect.name) abandoned", .count(effect.abandoned)),
        Metric("\(effect.name) answered p95, ms", .time(effect.answered.p95)),
        Metric("\(effect.name) queued p95, ms", .time(effect.queued.p95)),
      ]
    }
    for view in run.views {
      metrics += [
        Metric("\(view.name) evaluations", .count(view.evaluations)),
        Metric("\(view.name) avoidable", .count(view.avoidable)),
        Metric("\(view.name) mean, ms", view.evaluations > 0 ? .time(view.mean) : .none),
        Metric("\(view.name) self, ms", view.evaluations > 0 ? .time(view.selfMean) : .none),
      ]
    }
  }
}

/// Compares runs side by side.
package enum RunComparison {
  /// Returns a table with a column for each run, under `headings`. With two runs, it also shows the
  /// change from the first to the second.
  package static func lines(_ runs: [RunMetrics], headings: [String]) -> [String] {
    TextColumns.lines(rows(runs, headings: headings))
  }

  /// Returns the comparison table as cells, with the headings first.
  static func rows(_ runs: [RunMetrics], headings: [String]) -> [[String]] {
    [[""] + headings + (runs.count == 2 ? ["change"] : [])]
      + runs.flatMap { $0.metrics.map(\.name) }.withoutDuplicates.map { name in
        let values = runs.map { run in
          run.metrics.first { $0.name == name }?.value ?? .none
        }
        let texts = [name] + values.map(\.text)
        return values.count == 2 ? texts + [change(values[0], values[1])] : texts
      }
  }

  /// Returns the change relative to the first value, in percent; for shares, in percentage points.
  /// Empty if both have the same text. The change is rounded, but `-100.0 %` appears only if the
  /// second value is 0.
  private static func change(_ first: RunMetrics.Value, _ second: RunMetrics.Value) -> String {
    guard let old = first.number, let new = second.number, first.text != second.text else {
      return ""
    }
    if case .share = first { return signed(new - old) + " points" }
    guard old != 0 else { return "new" }
    let base = Int128(old.magnitude)
    let difference = Int128(new) - Int128(old)
    let thousandths = (difference.magnitude * 2_000 + base.magnitude) / (base.magnitude * 2)
    let rounded = difference < 0 ? -Int128(thousandths) : Int128(thousandths)
    return signed(Int64(clamping: new != 0 ? max(-999, rounded) : rounded)) + " %"
  }

  private static func signed(_ thousandths: Int64) -> String {
    (thousandths > 0 ? "+" : "") + FixedPoint.text(thousandths, decimals: 1)
  }
}
