@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

/// Replaces the global thread pool: jobs and sleeps become steps of the machine.
final class SimulatedExecutor: TaskExecutor, SchedulingExecutor, MainExecutor {
  /// Installs this executor as the default of the process.
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

  // The main thread runs the machine. No part of the daemon runs on the main thread.
  func run() {}
  func stop() {}
}
