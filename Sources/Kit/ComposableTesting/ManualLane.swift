public import Composable
import Synchronization

/// A lane that runs only on demand: the deterministic executor of tests.
///
/// Everything that a store and its effects do waits in one queue and runs, in the order in which it
/// came, inside ``run()``, on the caller's thread. So a test never waits for time or hopes that a
/// task got its turn: when `run()` returns, nothing is left that could continue by itself.
///
/// It is also the executor of effects that a running program would leave to the shared pool. What
/// an effect starts outside its task (`Task.detached`, a thread of its own, a sleep on a real
/// clock) is beyond its reach.
public final class ManualLane: Lane, TaskExecutor, SerialExecutor {
  private enum Work: Sendable {
    case closure(@Sendable () -> Void)
    case job(UnownedJob)
  }

  private struct Contents: Sendable {
    var work: ContiguousArray<Work> = []
    var isRunning = false
  }

  private let contents = Mutex(Contents())

  public init() {}

  public var taskExecutor: (any TaskExecutor)? { self }
  public var poolExecutor: (any TaskExecutor)? { self }

  /// Whether nothing waits.
  public var isIdle: Bool { contents.withLock { $0.work.isEmpty } }

  public func execute(_ job: @escaping @Sendable () -> Void) {
    contents.withLock { $0.work.append(.closure(job)) }
  }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    contents.withLock { $0.work.append(.job(job)) }
  }

  /// Runs what waits, and what that leads to, until nothing waits any more.
  ///
  /// Called from within the lane's own work it does nothing: the outer call runs what is left.
  /// - Returns: how many pieces of work were run.
  @discardableResult
  public func run() -> Int {
    let isNested = contents.withLock { contents in
      defer { contents.isRunning = true }
      return contents.isRunning
    }
    guard !isNested else { return 0 }
    var count = 0
    while let batch = takeBatch() {
      for work in batch { perform(work) }
      count += batch.count
    }
    return count
  }

  /// The next batch; without one the run is over.
  private func takeBatch() -> ContiguousArray<Work>? {
    contents.withLock { contents in
      guard !contents.work.isEmpty else {
        contents.isRunning = false
        return nil
      }
      defer { contents.work = [] }
      return contents.work
    }
  }

  private func perform(_ work: Work) {
    switch work {
    case .closure(let closure): closure()
    case .job(let job):
      job.runSynchronously(
        isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  public func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }
}
