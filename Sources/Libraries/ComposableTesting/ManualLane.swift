public import Composable
import IssueReporting
import Locking

/// A lane that runs only on demand: a deterministic executor for tests.
///
/// All work of a store and its effects waits in one queue, and runs inside ``run()`` in the order
/// of arrival, on the caller's thread. A test therefore never waits for time to pass or for a task
/// to be scheduled. When `run()` returns, no work is left that could continue on its own.
///
/// The lane also runs effects that a program would run on the shared pool. It does not control work
/// that an effect starts outside its task (`Task.detached`, a separate thread, a sleep on a real
/// clock).
public final class ManualLane: Lane, TaskExecutor, SerialExecutor {
  private enum Work: Sendable {
    case closure(@Sendable () -> Void)
    case job(UnownedJob, EffectExecutor?)
  }

  private struct Contents: Sendable {
    var work: ContiguousArray<Work> = []
    var isRunning = false
    var turnLimit = 100_000
    /// Work that was set aside because it never ends. It is kept, because a task whose work is
    /// dropped is never freed.
    var leftAside: ContiguousArray<Work> = []
  }

  private let contents = Guarded(Contents())
  /// A closure that receives the names of effects that keep the lane busy for longer than
  /// ``turnLimit``. The thread that runs the lane sets the closure, and ``run()`` calls it.
  nonisolated(unsafe) var onEndlessRun: (([String]) -> Void)?

  public init() {}

  public var taskExecutor: (any TaskExecutor)? { self }
  public var poolExecutor: (any TaskExecutor)? { self }

  public func taskExecutor(named effect: String) -> (any TaskExecutor)? {
    EffectExecutor(effect, self)
  }

  /// Whether no work is waiting.
  public var isIdle: Bool { contents.withLock { $0.work.isEmpty } }

  /// The maximum number of turns of ``run()`` before it reports the effects that keep the lane
  /// busy. A turn runs the work that was waiting when the turn began.
  public var turnLimit: Int {
    get { contents.withLock { $0.turnLimit } }
    set { contents.withLock { $0.turnLimit = newValue } }
  }

  public func execute(_ job: @escaping @Sendable () -> Void) { add(.closure(job)) }

  public func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job), nil)) }

  fileprivate func enqueue(_ job: UnownedJob, of effect: EffectExecutor) { add(.job(job, effect)) }

  private func add(_ work: Work) { contents.withLock { $0.work.append(work) } }

  /// Runs the waiting work, and the work that follows from it, until none is left. A nested call
  /// from the lane's own work does nothing, because the outer call runs all work.
  ///
  /// After ``turnLimit`` turns, the busy effects are reported, and their test store cancels them.
  /// Work that has not ended after the same number of further turns is set aside.
  /// - Returns: The number of pieces of work that were run.
  @discardableResult
  public func run() -> Int {
    let (isNested, limit) = contents.withLock { contents in
      defer { contents.isRunning = true }
      return (contents.isRunning, contents.turnLimit)
    }
    guard !isNested else { return 0 }
    var (count, turns, isReported) = (0, 0, false)
    while let batch = removeBatch() {
      turns += 1
      if turns > limit {
        if isReported {
          contents.withLock { $0.leftAside += batch }
          continue
        }
        report(batch)
        (turns, isReported) = (0, true)
      }
      for work in batch { perform(work) }
      count += batch.count
    }
    return count
  }

  private func removeBatch() -> ContiguousArray<Work>? {
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
    case .job(let job, let effect):
      job.runSynchronously(
        isolatedTo: asUnownedSerialExecutor(),
        taskExecutor: effect?.asUnownedTaskExecutor() ?? asUnownedTaskExecutor())
    }
  }

  private func report(_ batch: ContiguousArray<Work>) {
    let names = Set(
      batch.compactMap { if case .job(_, let effect) = $0 { effect?.name } else { nil } })
    if let onEndlessRun {
      onEndlessRun(names.sorted())
    } else {
      reportIssue(Self.describe(names.sorted(), turnLimit))
    }
  }

  static func describe(_ effects: [String], _ turnLimit: Int) -> String {
    """
    The lane is still busy after \(turnLimit) turns\
    \(effects.isEmpty ? "." : ", with the effect \(effects.joined(separator: ", ")).") \
    An effect must wait for a clock or another event that the test controls, and must not poll.
    """
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  public func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }
}

/// The executor of one effect on a lane, which stores the effect's name.
private final class EffectExecutor: TaskExecutor {
  let name: String
  private let lane: ManualLane

  init(_ name: String, _ lane: ManualLane) {
    self.name = name
    self.lane = lane
  }

  func enqueue(_ job: consuming ExecutorJob) { lane.enqueue(UnownedJob(job), of: self) }
}
