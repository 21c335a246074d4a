import Composable
import Synchronization

/// The lane of a simulated screen: what effects bring waits for the end of a turn.
final class SimulationLane: Lane {
  private let jobs = Mutex<[@Sendable () -> Void]>([])

  var taskExecutor: (any TaskExecutor)? { nil }

  func execute(_ job: @escaping @Sendable () -> Void) { jobs.withLock { $0.append(job) } }

  func run() {
    while true {
      let batch = jobs.withLock { jobs in
        if jobs.isEmpty { return jobs }
        return exchange(&jobs, with: [])
      }
      if batch.isEmpty { return }
      for job in batch { job() }
    }
  }
}
