import Synchronization

/// Measures how long effects hold the screen's thread. Between two suspensions, a task blocks the
/// thread.
///
/// Belongs to the simulating thread, which runs all lanes of a run.
final class EffectMeter: @unchecked Sendable {
  /// The holds of one effect on the lane.
  struct Holds: Sendable {
    var effect: String
    /// The number of holds longer than ``EffectMeter/short``.
    var count = 0
    /// The longest hold, in nanoseconds.
    var longest: Int64 = 0
    /// The total of all counted holds, in nanoseconds.
    var total: Int64 = 0
  }

  /// The minimum length of a counted hold, in nanoseconds.
  private static let short: Int64 = 1_000_000

  private(set) var holds: [Holds] = []
  /// Called with the duration of each part, in nanoseconds.
  var onPart: ((Int64) -> Void)?

  /// Runs a part of an effect. Parts are never nested.
  func measure(_ effect: String, _ part: () -> Void) {
    // Reads both clocks before each part, because parts are rare.
    var clock = WorkClock()
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

/// The executor of one effect on a lane, which measures the effect under its name.
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
