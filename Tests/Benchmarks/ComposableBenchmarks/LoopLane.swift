import Composable
import Foundation
import Synchronization

/// A lane that the benchmark drives on its own thread, as a server's event loop does.
package final class LoopLane: Lane, TaskExecutor, SerialExecutor {
  private enum Work: Sendable {
    case closure(@Sendable () -> Void)
    case job(UnownedJob)
  }

  private let work = Mutex<ContiguousArray<Work>>([])
  private let arrived = DispatchSemaphore(value: 0)

  package init() {}

  package var taskExecutor: (any TaskExecutor)? { self }

  package func execute(_ job: @escaping @Sendable () -> Void) { add(.closure(job)) }

  package func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

  private func add(_ item: Work) {
    work.withLock { $0.append(item) }
    arrived.signal()
  }

  /// Runs arriving work until `isDone` returns true.
  package func run(until isDone: () -> Bool) {
    while !isDone() {
      arrived.wait()
      let batch = work.withLock { work in
        defer { work = [] }
        return work
      }
      for item in batch {
        switch item {
        case .closure(let closure): closure()
        case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
        }
      }
    }
  }

  package func asUnownedTaskExecutor() -> UnownedTaskExecutor {
    UnownedTaskExecutor(ordinary: self)
  }

  package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }
}

/// Counts notifications of observers.
final class Tally {
  @exclusivity(unchecked) var count = 0
}
