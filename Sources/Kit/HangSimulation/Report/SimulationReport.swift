public import ViewGraph
import Wording

/// The result of a simulation. Durations are whole nanoseconds.
public struct SimulationReport: Sendable, Hashable {
  /// Of the simulator. Reports of different versions may differ.
  public var version: String
  /// The name of the plan or scenario.
  public var scenario: String
  /// Everything that is left to chance follows from it.
  public var seed: UInt64
  /// In virtual time.
  public var duration: VirtualTime
  /// What was set on the command line.
  public var parameters: [Parameter]
  /// By device, then by variant.
  public var runs: [RunReport]
  /// Which conditions were met.
  public var thresholds: [ThresholdReport]

  /// Something that was set from outside.
  public struct Parameter: Sendable, Hashable {
    /// What was set.
    public var key: String
    /// To what.
    public var value: String
  }

  /// Identifies everything that happened in all runs: each turn, each evaluation, each count.
  public var digest: String {
    var digest = Digest()
    for run in runs { digest.add(run.digest) }
    return digest.text
  }

  /// Whether every threshold was met.
  public var isPassed: Bool { thresholds.allSatisfy(\.passed) }
}

/// One variant on one device.
public struct RunReport: Sendable, Hashable {
  /// The name of the device.
  public var device: String
  /// The name of the variant.
  public var variant: String
  /// Relative to the reference device, including conditions, in millionths.
  public var slowdown: Int64
  /// Frames per second.
  public var refreshRate: Int
  /// Where the events went.
  public var events: EventTotals
  /// What faults did to the events.
  public var faults: FaultCounts
  /// Empty unless the scenario says what effects find.
  public var effects: [EffectReport]
  /// Actions that were reduced.
  public var actions: Int
  /// Frames that had something to draw.
  public var frames: Int
  /// Turns of the screen's thread.
  public var turns: Int
  /// Turns that were long enough to be noticed.
  public var microhangs: Int
  /// Turns that were longer still.
  public var hangs: Int
  /// The longest turn, in nanoseconds.
  public var longest: Int64
  /// Nanoseconds per second by which turns outlasted the refresh that they should have made.
  public var hitchPerSecond: Int64
  /// Share of the time that the thread was busy, in thousandths.
  public var busyShare: Int
  /// From when an event should have arrived to the end of the frame that shows it.
  public var latency: Percentiles
  /// Counted from when the thread took the event, without the time that the event waited for the
  /// thread.
  public var service: Percentiles
  /// Of the views that were evaluated.
  public var views: [ViewReport]
  /// The longest turns with their causes, the longest first.
  public var longestTurns: [TurnReport]
  /// Length of a part of ``timeline``.
  public var bucket: Int64
  /// The longest turn that began in each part of the run.
  public var timeline: [Int64]
  /// Identifies everything that happened in the run.
  public var digest: UInt64
  /// How many of the constants that the times rest on were measured on the device; see ``assumedCosts``.
  public var measuredCosts: Int
  /// How many were not: costs of the screen's views and kinds of actions.
  public var assumedCosts: Int
  /// For thresholds about a part of the run.
  let turnRecord: TurnRecord
}

/// Where the events of a run went: `received = applied + coalesced + rejected + pending`.
public struct EventTotals: Sendable, Hashable {
  /// All.
  public var received: Int
  /// Those whose content reached the reducer.
  public var applied: Int
  /// Those that a newer one superseded.
  public var coalesced: Int
  /// Those that were refused.
  public var rejected: Int
  /// Those that throttles still hold.
  public var pending: Int

  /// The rest of `received` was applied.
  public init(received: Int, coalesced: Int = 0, rejected: Int = 0, pending: Int = 0) {
    self.received = received
    self.coalesced = coalesced
    self.rejected = rejected
    self.pending = pending
    applied = received - coalesced - rejected - pending
  }
}

/// How durations are distributed, in nanoseconds.
public struct Percentiles: Sendable, Hashable {
  /// The median.
  public var p50: Int64
  /// 95 % are not longer.
  public var p95: Int64
  /// 99 % are not longer.
  public var p99: Int64
  /// The longest.
  public var max: Int64

  init(_ histogram: DurationHistogram) {
    p50 = histogram.percentile(500)
    p95 = histogram.percentile(950)
    p99 = histogram.percentile(990)
    max = histogram.maximum
  }
}

/// What became of the effects of one kind.
public struct EffectReport: Sendable, Hashable {
  /// As it was given.
  public var name: String
  /// How many began.
  public var started: Int
  /// How many were answered by a failure.
  public var failed: Int
  /// How many were given up before they were answered: by time-outs, or because something else was wanted.
  public var abandoned: Int
  /// From the start to the answer, of those that were answered.
  public var answered: Percentiles
  /// How long they waited for a core.
  public var queued: Percentiles
}

/// One turn of the screen's thread. Times are in nanoseconds.
public struct TurnReport: Sendable, Hashable {
  /// When it began.
  public var start: Int64
  /// How long it took.
  public var length: Int64
  /// See ``HangClass``.
  public var hangClass: String
  /// The kind of action that cost most, and what it cost.
  public var action: String?
  /// What all of that kind cost together.
  public var actionCost: Int64
  /// The view whose own evaluation cost most.
  public var view: String?
  /// What its evaluation cost, without views within.
  public var viewCost: Int64
  /// Which action and which field led to that evaluation; `nil` if no action did.
  public var viewTrigger: EvaluationTrigger?
  /// One-off cost of the views that appeared.
  public var appearanceCost: Int64
}

/// Evaluations of one kind of view. Times are in nanoseconds.
public struct ViewReport: Sendable, Hashable {
  /// See ``View/name``.
  public var name: String
  /// How often it was evaluated.
  public var evaluations: Int
  /// How often it looked the same as before.
  public var avoidable: Int
  /// Including views evaluated within.
  public var mean: Int64
  /// Excluding views evaluated within.
  public var selfMean: Int64
  /// 95 % are not longer, with the views evaluated within.
  public var p95: Int64
  /// The longest, with the views evaluated within.
  public var max: Int64
  /// Most frequent first.
  public var causes: [Cause]

  /// Why it was evaluated.
  public struct Cause: Sendable, Hashable {
    /// See ``EvaluationReason``.
    public var kind: String
    /// The kind of action behind it.
    public var action: String?
    /// The field that the action changed.
    public var field: String?
    /// How often.
    public var count: Int
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

/// Whether a condition was met.
public struct ThresholdReport: Sendable, Hashable {
  /// As it was written.
  public var text: String
  /// The worst value of all runs that it applies to, with its unit.
  public var value: String
  /// Whether all runs met it.
  public var passed: Bool { failures.isEmpty }
  /// Runs that did not meet it.
  public var failures: [Failure]

  package init(text: String, value: String, failures: [Failure]) {
    self.text = text
    self.value = value
    self.failures = failures
  }

  /// A run that did not meet a condition, or that of several seeds.
  public struct Failure: Sendable, Hashable {
    /// The device of the run.
    public var device: String
    /// The variant of the run.
    public var variant: String
    /// What was found instead, with its unit: of several seeds the worst, or the percentile that was asked for.
    public var value: String
    /// The seed that gave this value.
    public var seed: UInt64
    /// How many seeds did not meet it.
    public var failedSeeds: Int
    /// Of how many.
    public var seeds: Int

    package init(
      device: String, variant: String, value: String, seed: UInt64, failedSeeds: Int, seeds: Int
    ) {
      self.device = device
      self.variant = variant
      self.value = value
      self.seed = seed
      self.failedSeeds = failedSeeds
      self.seeds = seeds
    }
  }
}
