import Synchronization

/// Measures how long effects hold the thread of the screen: from one suspension to the next, a task lets nothing else run.
///
/// Belongs to the thread that simulates, on which all lanes of a run are.
final class EffectMeter: @unchecked Sendable {
  /// What an effect did on the lane.
  struct Holds: Sendable {
    var effect: String
    /// How often it held the lane for longer than ``EffectMeter/short``.
    var count = 0
    /// Nanoseconds.
    var longest: Int64 = 0
    /// Nanoseconds of all holds that were counted.
    var total: Int64 = 0
  }

  /// Shorter holds are not counted.
  private static let short: Int64 = 1_000_000

  private(set) var holds: [Holds] = []
  /// Called with what each part took.
  var onPart: ((Int64) -> Void)?
  private var clock = WorkClock(readsBoth: true)

  /// Runs a part of an effect. Parts are never within each other.
  func measure(_ effect: String, _ part: () -> Void) {
    clock.begin()
    part()
    let elapsed = clock.end()
    onPart?(elapsed)
    guard elapsed > Self.short else { return }
    let index = holds.firstIndex { $0.effect == effect } ?? holds.count
    if index == holds.count { holds.append(Holds(effect: effect)) }
    holds[index].count += 1
    holds[index].total += elapsed
    holds[index].longest = max(holds[index].longest, elapsed)
  }
}

/// The executor of one effect on a lane, so that what it does is measured under its name.
final class EffectExecutor: TaskExecutor {
  private let lane: SimulationLane
  private let effect: String
  private let meter: EffectMeter

  init(lane: SimulationLane, effect: String, meter: EffectMeter) {
    self.lane = lane
    self.effect = effect
    self.meter = meter
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    lane.execute { [self] in
      meter.measure(effect) { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }
}
