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

  /// - Parameter pool: where effects run that do not run on the lane; `nil` for the lane.
  init(pool: SimulationLane? = nil) { self.pool = pool }

  package var taskExecutor: (any TaskExecutor)? { self }
  package var poolExecutor: (any TaskExecutor)? { pool ?? self }

  var isIdle: Bool { !hasJobs.load(ordering: .acquiring) }

  // Never inlined, because an asynchronous caller may have moved to another thread between taking the
  // lock and releasing it.
  @inline(never)
  package func execute(_ job: @escaping @Sendable () -> Void) {
    jobs.withLock { $0.append(job) }
    hasJobs.store(true, ordering: .releasing)
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  func run() {
    while hasJobs.load(ordering: .acquiring) {
      hasJobs.store(false, ordering: .relaxed)
      let batch = jobs.withLock { exchange(&$0, with: []) }
      for job in batch { job() }
    }
  }
}
