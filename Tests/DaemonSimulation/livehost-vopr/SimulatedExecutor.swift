@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

/// In place of the threads that all tasks share: jobs, and sleeps, are the machine's.
final class SimulatedExecutor: TaskExecutor, SchedulingExecutor, MainExecutor {
  /// Makes it the default of the process.
  static func install() { _createExecutors(factory: Factory.self) }

  private struct Factory: ExecutorFactory {
    static let executor = SimulatedExecutor()
    static var mainExecutor: any MainExecutor { executor }
    static var defaultExecutor: any TaskExecutor { executor }
  }

  func enqueue(_ job: consuming ExecutorJob) { Machine.current.enqueue(UnownedJob(job)) }

  func enqueue<C: Clock>(
    _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
  ) {
    let job = UnownedJob(job)
    let (seconds, attoseconds) = (delay as? Duration ?? .zero).components
    let nanoseconds = max(0, seconds) * 1_000_000_000 + max(0, attoseconds) / 1_000_000_000
    Machine.current.after(UInt64(nanoseconds)) { Machine.current.enqueue(job) }
  }

  // Nothing of the daemon runs on the main thread, which runs the machine.
  func run() {}
  func stop() {}
}
