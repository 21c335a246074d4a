import HostScreen
import ViewGraph

/// The result of a simulation. Durations are whole nanoseconds.
package struct SimulationReport: Sendable, Hashable {
  package var version: String
  package var scenario: String
  package var seed: UInt64
  package var duration: VirtualTime
  /// What was set on the command line.
  package var parameters: [Parameter]
  package var runs: [RunReport]
  package var thresholds: [ThresholdReport]

  package struct Parameter: Sendable, Hashable {
    package var key: String
    package var value: String
  }

  /// Identifies everything that happened in all runs: each turn, each evaluation, each count.
  package var digest: String {
    var digest = Digest()
    for run in runs { digest.add(run.digest) }
    return digest.text
  }

  /// Whether every threshold was met.
  package var isPassed: Bool { thresholds.allSatisfy(\.passed) }
}

/// One variant on one device.
package struct RunReport: Sendable, Hashable {
  package var device: String
  package var variant: String
  /// Relative to the reference device, including conditions, in millionths.
  package var slowdown: Int64
  package var refreshRate: Int
  package var events: EventTotals
  package var faults: FaultCounts
  /// Empty unless the scenario says what effects find.
  package var effects: [EffectReport]
  package var actions: Int
  package var frames: Int
  package var turns: Int
  package var microhangs: Int
  package var hangs: Int
  package var longest: Int64
  /// Nanoseconds per second by which turns outlasted the refresh that they should have made.
  package var hitchPerSecond: Int64
  /// Share of the time that the thread was busy, in thousandths.
  package var busyShare: Int
  /// From when an event should have arrived to the end of the frame that shows it.
  package var latency: Percentiles
  /// Counted from when the thread took the event, without the time that the event waited for the
  /// thread.
  package var service: Percentiles
  package var views: [ViewReport]
  /// The longest turns with their causes, the longest first.
  package var longestTurns: [TurnReport]
  /// Length of a part of ``timeline``.
  package var bucket: Int64
  /// The longest turn that began in each part of the run.
  package var timeline: [Int64]
  package var digest: UInt64
}

package struct EventTotals: Sendable, Hashable {
  package var received, applied, coalesced, rejected, pending: Int
}

package struct Percentiles: Sendable, Hashable {
  package var p50, p95, p99, max: Int64

  init(_ histogram: DurationHistogram) {
    p50 = histogram.percentile(500)
    p95 = histogram.percentile(950)
    p99 = histogram.percentile(990)
    max = histogram.maximum
  }
}

/// What became of the effects of one kind.
package struct EffectReport: Sendable, Hashable {
  package var name: String
  package var started: Int
  package var failed: Int
  /// How many were given up before they were answered: by time-outs, or because something else was wanted.
  package var abandoned: Int
  /// From the start to the answer, of those that were answered.
  package var answered: Percentiles
  /// How long they waited for a core.
  package var queued: Percentiles
}

package struct TurnReport: Sendable, Hashable {
  package var start: Int64
  package var length: Int64
  package var hangClass: String
  /// The kind of action that cost most, and what it cost.
  package var action: String?
  package var actionCost: Int64
  /// The view whose own evaluation cost most.
  package var view: String?
  package var viewCost: Int64
  /// One-off cost of the views that appeared.
  package var appearanceCost: Int64
}

package struct ViewReport: Sendable, Hashable {
  package var name: String
  package var evaluations: Int
  package var avoidable: Int
  /// Including views evaluated within.
  package var mean: Int64
  /// Excluding views evaluated within.
  package var selfMean: Int64
  package var p95: Int64
  package var max: Int64
  /// Most frequent first.
  package var causes: [Cause]

  package struct Cause: Sendable, Hashable {
    package var kind: String
    package var action: String?
    package var field: String?
    package var count: Int
  }

  init(_ name: String, _ statistics: ViewStatistics, _ inclusive: DurationHistogram) {
    self.name = name
    evaluations = statistics.evaluations
    avoidable = statistics.avoidable
    let divisor = UInt64(Swift.max(1, statistics.evaluations))
    mean = Int64(statistics.total / divisor)
    selfMean = Int64(statistics.selfTotal / divisor)
    p95 = inclusive.percentile(950)
    max = Int64(statistics.maximum)
    causes = statistics.causes.sorted { left, right in
      left.value != right.value ? left.value > right.value : left.key < right.key
    }.map {
      Cause(kind: $0.key.kind.rawValue, action: $0.key.action, field: $0.key.field, count: $0.value)
    }
  }
}

package struct ThresholdReport: Sendable, Hashable {
  package var text: String
  /// The worst value of all runs that it applies to, with its unit.
  package var value: String
  package var passed: Bool
  /// Runs that did not meet it.
  package var failures: [String]
}
