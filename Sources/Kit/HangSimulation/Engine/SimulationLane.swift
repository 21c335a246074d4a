import Composable
import Synchronization

/// The thread of a simulated screen, or of what computes beside it: what it is given waits until it is run.
///
/// Effects run on it as well, and never on a thread of their own, so that the same scenario always does the same.
package final class SimulationLane: Lane, TaskExecutor {
  private let jobs = Mutex<[@Sendable () -> Void]>([])
  /// Checked after every turn, and almost always false.
  private let hasJobs = Atomic<Bool>(false)
  private let pool: SimulationLane?
  /// Measures how long effects really compute; set while nothing runs.
  private let meter = Mutex<EffectMeter?>(nil)

  /// - Parameter pool: where effects run that do not run on the lane; `nil` for the lane.
  init(pool: SimulationLane? = nil) { self.pool = pool }

  package var taskExecutor: (any TaskExecutor)? { self }
  package func taskExecutor(named effect: String) -> (any TaskExecutor)? {
    meter.withLock { $0 }.map { EffectExecutor(lane: self, effect: effect, meter: $0) } ?? self
  }
  package var poolExecutor: (any TaskExecutor)? { pool ?? self }

  var isIdle: Bool { !hasJobs.load(ordering: .acquiring) }

  // Never inlined, because an asynchronous caller may have moved to another thread between taking the
  // lock and releasing it.
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
