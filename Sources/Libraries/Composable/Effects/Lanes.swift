public import Dispatch

/// A lane on a serial dispatch queue, for programs without an event loop.
///
///     actor Room {
///       let lane = SerialLane(label: "room")
///       nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }
///       lazy var store = Store(initialState: Show.State(), lane: lane) { Show() }
///       func send(_ action: Show.Action) { store.send(action) }
///     }
///
/// An actor with this executor runs on the lane, so it can hold the store. Effects also run on the
/// lane, unless they pass `onLane: false`; then they run on the shared pool.
public final class SerialLane: Lane, TaskExecutor, SerialExecutor {
  private let queue: DispatchQueue

  /// Makes a lane on a new queue.
  public init(label: String = "lane") { queue = DispatchQueue(label: label) }

  /// Makes a lane on `queue`, which must be serial.
  public init(queue: DispatchQueue) { self.queue = queue }

  public var taskExecutor: (any TaskExecutor)? { self }

  public func execute(_ job: @escaping @Sendable () -> Void) { queue.async(execute: job) }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { [self] in
      job.runSynchronously(
        isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }
  }

  /// Checks that the lane is running, so that actors with this executor may assume isolation.
  public func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }

  /// Runs `body` on the lane and returns its result.
  public func run<Result: Sendable>(
    _ body: @escaping @Sendable () -> Result
  ) async -> Result {
    await withCheckedContinuation { continuation in
      execute { continuation.resume(returning: body()) }
    }
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  public func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }
}

/// The main actor as a lane, for stores that are made and used on the main actor. The main queue
/// must be served by an asynchronous `main`, `dispatchMain()` or a run loop.
public final class MainActorLane: Lane, TaskExecutor {
  public init() {}

  public var taskExecutor: (any TaskExecutor)? { self }

  public func execute(_ job: @escaping @Sendable () -> Void) {
    DispatchQueue.main.async(execute: job)
  }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    DispatchQueue.main.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  public func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }
}
