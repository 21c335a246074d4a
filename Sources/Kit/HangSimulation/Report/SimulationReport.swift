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
  var measuredGrowth = Measured(value: [GrowthFinding]())
  /// What follows from the plan alone.
  var countedFindings: [Finding] = []
  var measuredFindings = Measured(value: [Finding]())
  var measuredRuns = Measured(value: [MeasuredRuns]())
  var measuredHolds = Measured(value: [LaneHold]())

  /// Something that was set from outside.
  public struct Parameter: Sendable, Hashable {
    /// What was set.
    public var key: String
    /// To what.
    public var value: String
  }

  /// Work that grows with the state, the costliest first. Measured: two runs of one plan give slightly different figures,
  /// which neither ``digest`` nor a comparison of reports contains.
  public var growth: [GrowthFinding] {
    get { measuredGrowth.value }
    set { measuredGrowth.value = newValue }
  }

  /// Effects that compute on the thread of the screen, the longest first. Measured, as ``growth`` is.
  public var laneHolds: [LaneHold] {
    get { measuredHolds.value }
    set { measuredHolds.value = newValue }
  }

  /// The same runs with costs that were measured meanwhile, if ``SimulationPlan/measuredRepeats`` asks for them. They are
  /// no part of comparisons, as ``growth`` is not.
  public var measured: [MeasuredRuns] {
    get { measuredRuns.value }
    set { measuredRuns.value = newValue }
  }

  /// Work that could be left out, with its cause and what to do: the costliest first, of those that were counted and of
  /// those that were measured. What was measured is part neither of ``digest`` nor of a comparison of reports.
  public var findings: [Finding] { (countedFindings + measuredFindings.value).costliestFirst }

  /// Identifies everything that happened in all runs: each turn, each evaluation, each count.
  public var digest: String {
    var digest = Digest()
    for run in runs { digest.add(run.digest) }
    return digest.text
  }

  /// Whether no threshold was missed. Those that were skipped are neither met nor missed.
  public var isPassed: Bool { !thresholds.contains(where: \.isMissed) }
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
  /// How long the turns took that drew a frame, with what they reduced before it.
  public var frame: Percentiles
  /// How many of them took ``frozenFrame`` or longer.
  public var frozenFrames: Int
  /// Of the views that were evaluated.
  public var views: [ViewReport]
  /// The longest turns with their causes, the longest first.
  public var longestTurns: [TurnReport]
  /// Length of a part of ``timeline``.
  public var bucket: Int64
  /// The longest turn that began in each part of the run.
  public var timeline: [Int64]
  /// How many events the thread took in each part of the run.
  public var arrivals: [Int]
  /// When faults were at work.
  public var faultWindows: [FaultWindow]
  /// Identifies everything that happened in the run.
  public var digest: UInt64
  /// How many of the constants that the times rest on were measured on the device; see ``assumedCosts``.
  public var measuredCosts: Int
  /// How many were not: costs of the screen's views and kinds of actions.
  public var assumedCosts: Int
  /// For thresholds about a part of the run; `nil` in a report that was read from a file.
  let turnRecord: TurnRecord?
  /// Work that grows with the state in this variant, for thresholds; `nil` if it was not looked for.
  var measuredGrowth = Measured(value: GrowthRecord?.none)
  /// The kinds of actions that the screen has, for thresholds.
  var actionKinds: [String] = []

  /// From this length on a frame counts as frozen, in nanoseconds: 700 ms, as in Android vitals.
  public static let frozenFrame: Int64 = 700_000_000
}

/// A part of a run in which a fault was at work. Times are in nanoseconds.
public struct FaultWindow: Sendable, Hashable {
  /// Such as `stall`.
  public var kind: String
  /// When it began.
  public var start: Int64
  /// The first instant after it.
  public var end: Int64

  init(_ fault: Fault) {
    kind = fault.kind.name
    start = fault.start.nanoseconds
    end = fault.end.nanoseconds
  }
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
  /// How many durations there were. Without any, the others are 0.
  public var count: Int

  init(_ histogram: DurationHistogram) {
    p50 = histogram.percentile(500)
    p95 = histogram.percentile(950)
    p99 = histogram.percentile(990)
    max = histogram.maximum
    count = histogram.count
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
