public import ViewGraph
import Wording

/// The result of a simulation. Durations are whole nanoseconds.
public struct SimulationReport: Sendable, Hashable {
  /// The version of the simulator. Reports of different versions may differ.
  public var version: String
  /// The name of the plan or scenario.
  public var scenario: String
  /// The seed of all random choices.
  public var seed: UInt64
  /// The duration in virtual time.
  public var duration: VirtualTime
  /// The parameters set on the command line.
  public var parameters: [Parameter]
  /// The runs, ordered by device and then by variant.
  public var runs: [RunReport]
  /// The results of the conditions.
  public var thresholds: [ThresholdReport]
  var measuredGrowth = Measured(value: [GrowthFinding]())
  /// The findings that depend on the plan alone.
  var countedFindings: [Finding] = []
  var measuredFindings = Measured(value: [Finding]())
  var measuredRuns = Measured(value: [MeasuredRuns]())
  var measuredHolds = Measured(value: [LaneHold]())

  /// A parameter that was set from outside.
  public struct Parameter: Sendable, Hashable {
    /// The name of the parameter.
    public var key: String
    /// The value of the parameter.
    public var value: String
  }

  /// Work that grows with the state, costliest first. The figures are measured, so they differ
  /// between two runs of one plan, and ``digest`` and comparisons of reports exclude them.
  public var growth: [GrowthFinding] {
    get { measuredGrowth.value }
    set { measuredGrowth.value = newValue }
  }

  /// Effects that compute on the screen's thread, longest first. Measured, like ``growth``.
  public var laneHolds: [LaneHold] {
    get { measuredHolds.value }
    set { measuredHolds.value = newValue }
  }

  /// The same runs with measured costs, if ``SimulationPlan/measuredRepeats`` requests them.
  /// Excluded from comparisons, like ``growth``.
  public var measured: [MeasuredRuns] {
    get { measuredRuns.value }
    set { measuredRuns.value = newValue }
  }

  /// Avoidable work with its causes and remedies, costliest first. Includes counted and measured
  /// findings. Neither ``digest`` nor a comparison of reports includes the measured findings.
  public var findings: [Finding] { (countedFindings + measuredFindings.value).costliestFirst }

  /// A digest of everything that happened in all runs: each turn, each evaluation, each count.
  public var digest: String {
    var digest = Digest()
    for run in runs { digest.add(run.digest) }
    return digest.text
  }

  /// Whether no threshold was missed. A skipped threshold counts as neither met nor missed.
  public var isPassed: Bool { !thresholds.contains(where: \.isMissed) }
}

/// The result of one variant on one device.
public struct RunReport: Sendable, Hashable {
  /// The name of the device.
  public var device: String
  /// The name of the variant.
  public var variant: String
  /// The slowdown relative to the reference device, including conditions, in millionths.
  public var slowdown: Int64
  /// The refresh rate in frames per second.
  public var refreshRate: Int
  /// The counts of received, applied, coalesced, rejected, and pending events.
  public var events: EventTotals
  /// The effects of the faults on the events.
  public var faults: FaultCounts
  /// The simulated effects; empty unless the scenario or the screen defines any.
  public var effects: [EffectReport]
  /// The number of reduced actions.
  public var actions: Int
  /// The number of frames that had something to draw.
  public var frames: Int
  /// The number of turns of the screen's thread.
  public var turns: Int
  /// The number of turns within the bounds of microhangs.
  public var microhangs: Int
  /// The number of turns within the bounds of hangs.
  public var hangs: Int
  /// The longest turn, in nanoseconds.
  public var longest: Int64
  /// The time by which turns missed their refresh, in nanoseconds per second.
  public var hitchPerSecond: Int64
  /// The share of the time during which the thread was busy, in thousandths.
  public var busyShare: Int
  /// The time from an event's intended arrival to the end of the frame that shows it.
  public var latency: Percentiles
  /// The time from the receipt of an event by the thread to the end of the frame that shows it.
  /// Excludes the wait for the thread.
  public var service: Percentiles
  /// The durations of the turns that drew a frame, including their reductions.
  public var frame: Percentiles
  /// The number of frames of at least ``frozenFrame``.
  public var frozenFrames: Int
  /// The views that were evaluated.
  public var views: [ViewReport]
  /// The longest turns with their causes, longest first.
  public var longestTurns: [TurnReport]
  /// The length of each part of ``timeline``, in nanoseconds.
  public var bucket: Int64
  /// The longest turn that began in each part of the run, in nanoseconds.
  public var timeline: [Int64]
  /// The number of events received by the thread in each part of the run.
  public var arrivals: [Int]
  /// The periods of the faults.
  public var faultWindows: [FaultWindow]
  /// A digest of everything that happened in the run.
  public var digest: UInt64
  /// The number of cost constants that were measured on the device; see ``assumedCosts``.
  public var measuredCosts: Int
  /// The number of cost constants of the screen's views and action kinds that were not measured.
  public var assumedCosts: Int
  /// The record for thresholds about a part of the run; `nil` if read from a file.
  let turnRecord: TurnRecord?
  /// The growth of work in this variant, for thresholds; `nil` if it was not measured.
  var measuredGrowth = Measured(value: GrowthRecord?.none)
  /// The kinds of actions of the screen, for thresholds.
  var actionKinds: [String] = []

  /// The minimum length of a frozen frame, in nanoseconds: 700 ms, as in Android vitals.
  public static let frozenFrame: Int64 = 700_000_000
}

/// A period of a run in which a fault was active. Times are in nanoseconds.
public struct FaultWindow: Sendable, Hashable {
  /// The kind of fault, such as `stall`.
  public var kind: String
  /// The start of the period.
  public var start: Int64
  /// The first instant after the period.
  public var end: Int64

  init(_ fault: Fault) {
    kind = fault.kind.name
    start = fault.start.nanoseconds
    end = fault.end.nanoseconds
  }
}

/// The outcomes of the events of a run: `received = applied + coalesced + rejected + pending`.
public struct EventTotals: Sendable, Hashable {
  /// The total number of events.
  public var received: Int
  /// The events whose content reached the reducer.
  public var applied: Int
  /// The events that a newer event superseded.
  public var coalesced: Int
  /// The events that were rejected.
  public var rejected: Int
  /// The events that throttles still hold.
  public var pending: Int

  /// Creates totals. The remaining received events count as applied.
  public init(received: Int, coalesced: Int = 0, rejected: Int = 0, pending: Int = 0) {
    self.received = received
    self.coalesced = coalesced
    self.rejected = rejected
    self.pending = pending
    applied = received - coalesced - rejected - pending
  }
}

/// The distribution of durations, in nanoseconds.
public struct Percentiles: Sendable, Hashable {
  /// The median.
  public var p50: Int64
  /// The 95th percentile.
  public var p95: Int64
  /// The 99th percentile.
  public var p99: Int64
  /// The longest duration.
  public var max: Int64
  /// The number of durations; if it is 0, all other values are 0.
  public var count: Int

  init(_ histogram: DurationHistogram) {
    p50 = histogram.percentile(500)
    p95 = histogram.percentile(950)
    p99 = histogram.percentile(990)
    max = histogram.maximum
    count = histogram.count
  }
}

/// The outcomes of one simulated effect.
public struct EffectReport: Sendable, Hashable {
  /// The name given to ``SimulatedWorld/effect(_:_:)``.
  public var name: String
  /// The number of starts.
  public var started: Int
  /// The number of failures.
  public var failed: Int
  /// The number of effects that were cancelled before they completed, by time-outs or because the
  /// result was no longer needed.
  public var abandoned: Int
  /// The time from the start to the answer, for answered effects.
  public var answered: Percentiles
  /// The waiting time for a core.
  public var queued: Percentiles
}

/// A turn of the screen's thread. Times are in nanoseconds.
public struct TurnReport: Sendable, Hashable {
  /// The start of the turn.
  public var start: Int64
  /// The length of the turn.
  public var length: Int64
  /// The class of the turn; see ``HangClass``.
  public var hangClass: String
  /// The kind of action with the highest total cost in the turn.
  public var action: String?
  /// The total cost of the actions of that kind.
  public var actionCost: Int64
  /// The view with the longest evaluation, excluding nested views.
  public var view: String?
  /// The cost of that view's evaluation, excluding nested views.
  public var viewCost: Int64
  /// The action and the field that caused the evaluation; `nil` if no action did.
  public var viewTrigger: EvaluationTrigger?
  /// The one-time cost of the views that appeared.
  public var appearanceCost: Int64
}

/// The evaluations of all views of one name. Times are in nanoseconds.
public struct ViewReport: Sendable, Hashable {
  /// The name of the view; see ``View/name``.
  public var name: String
  /// The number of evaluations.
  public var evaluations: Int
  /// The number of evaluations that did not change the output.
  public var avoidable: Int
  /// The mean duration, including nested views.
  public var mean: Int64
  /// The mean duration, excluding nested views.
  public var selfMean: Int64
  /// The 95th percentile of the duration, including nested views.
  public var p95: Int64
  /// The longest duration, including nested views.
  public var max: Int64
  /// The causes of the evaluations, most frequent first.
  public var causes: [Cause]

  /// A cause of evaluations.
  public struct Cause: Sendable, Hashable {
    /// The kind of the cause; see ``EvaluationReason``.
    public var kind: String
    /// The kind of action that caused the evaluations.
    public var action: String?
    /// The field that the action changed.
    public var field: String?
    /// The number of evaluations with this cause.
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
