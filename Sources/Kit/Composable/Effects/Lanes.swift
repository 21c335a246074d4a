public import Dispatch

/// A lane on a serial queue: where a store lives in a program that has no event loop of its own.
///
///     actor Room {
///       let lane = SerialLane(label: "room")
///       nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }
///       lazy var store = Store(initialState: Show.State(), lane: lane) { Show() }
///       func send(_ action: Show.Action) { store.send(action) }
///     }
///
/// An actor with this executor runs on the lane, so it may hold the store. Effects run there, too,
/// unless they say otherwise: then on the shared pool.
public final class SerialLane: Lane, TaskExecutor, SerialExecutor {
  private let queue: DispatchQueue

  /// A lane on a queue of its own.
  public init(label: String = "lane") { queue = DispatchQueue(label: label) }

  /// A lane on `queue`, which must be serial.
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

  /// Tells actors on this lane that what the lane runs is theirs.
  public func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }

  /// Runs `body` on the lane and returns what it returned.
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

/// The main actor as a lane: for stores that code on the main actor makes and uses.
///
/// The main queue must be served: by an asynchronous `main`, `dispatchMain()` or a run loop.
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
