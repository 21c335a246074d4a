#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// How long effects really computed on the lane, each time from when they were resumed to when they waited.
///
/// Belongs to the thread that simulates.
final class LaneHolds: @unchecked Sendable {
  /// The holds of effects of one name, in nanoseconds of processor time.
  struct Holds {
    var count = 0
    var total: Int64 = 0
    /// The longest and the second longest.
    var longest: (Int64, Int64) = (0, 0)

    fileprivate mutating func add(_ time: Int64) {
      count += 1
      total += time
      if time > longest.0 {
        longest = (time, longest.0)
      } else {
        longest.1 = max(longest.1, time)
      }
    }
  }

  private(set) var byName: [String: Holds] = [:]

  func measure(_ effect: String, _ body: () -> Void) {
    let start = Self.now
    body()
    byName[effect, default: Holds()].add(Self.now - start)
  }

  /// Processor time of this thread, which leaves out the time of others.
  private static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

/// Where the effects of one name run: the lane, which measures how long they hold it.
final class MeasuredEffectExecutor: TaskExecutor {
  private let lane: SimulationLane
  private let holds: LaneHolds
  private let effect: String

  init(_ lane: SimulationLane, _ holds: LaneHolds, _ effect: String) {
    self.lane = lane
    self.holds = holds
    self.effect = effect
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    lane.execute { [self] in
      holds.measure(effect) { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }
}
