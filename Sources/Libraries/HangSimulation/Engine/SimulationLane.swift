import Composable
import Locking
import Synchronization

/// The thread of a simulated screen, or of work outside it. Scheduled jobs wait until the
/// simulation runs the lane. Effects also run on a lane and never on a thread of their own, so that
/// the same scenario always gives the same result.
package final class SimulationLane: Lane, TaskExecutor {
  private let jobs = Guarded<[@Sendable () -> Void]>([])
  /// Whether jobs are waiting: checked after every turn, and almost always false.
  private let hasJobs = Atomic<Bool>(false)
  private let pool: SimulationLane?
  /// Measures the real computing time of effects. The meter is set only while nothing runs.
  private let meter = Guarded<EffectMeter?>(nil)

  /// - Parameter pool: The lane of effects that do not run on this lane; `nil` if they do.
  init(pool: SimulationLane? = nil) { self.pool = pool }

  package var taskExecutor: (any TaskExecutor)? { self }
  package func taskExecutor(named effect: String) -> (any TaskExecutor)? {
    meter.withLock { $0 }.map { EffectExecutor(lane: self, effect: effect, meter: $0) } ?? self
  }
  package var poolExecutor: (any TaskExecutor)? { pool ?? self }

  var isIdle: Bool { !hasJobs.load(ordering: .acquiring) }

  // Never inlined, because an asynchronous caller may move to another thread between acquiring and
  // releasing the lock.
  @inline(never)
  package func execute(_ job: @escaping @Sendable () -> Void) {
    jobs.withLock { $0.append(job) }
    hasJobs.store(true, ordering: .releasing)
  }

  func measure(with meter: EffectMeter) { self.meter.withLock { $0 = meter } }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let meter = meter.withLock { $0 }
    execute { [self] in
      guard let meter else { return job.runSynchronously(on: asUnownedTaskExecutor()) }
      meter.measure("effect") { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }

  func run() {
    while hasJobs.load(ordering: .acquiring) {
      hasJobs.store(false, ordering: .relaxed)
      let batch = jobs.withLock { exchange(&$0, with: []) }
      for job in batch { job() }
    }
  }
}
