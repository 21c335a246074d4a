import Composable
import Platform
import Synchronization

/// The lane of a simulated screen: the actions of effects wait for the end of a turn.
final class SimulationLane: Lane {
  private let jobs = Guarded<[@Sendable () -> Void]>([])
  /// Checked after every turn, and almost always false.
  private let hasJobs = Atomic<Bool>(false)

  var taskExecutor: (any TaskExecutor)? { nil }

  func execute(_ job: @escaping @Sendable () -> Void) {
    jobs.withLock { $0.append(job) }
    hasJobs.store(true, ordering: .releasing)
  }

  func run() {
    while hasJobs.load(ordering: .acquiring) {
      hasJobs.store(false, ordering: .relaxed)
      let batch = jobs.withLock { exchange(&$0, with: []) }
      for job in batch { job() }
    }
  }
}
