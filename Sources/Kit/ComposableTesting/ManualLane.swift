public import Composable
import IssueReporting
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
    case job(UnownedJob, EffectExecutor?)
  }

  private struct Contents: Sendable {
    var work: ContiguousArray<Work> = []
    var isRunning = false
    var turnLimit = 100_000
    /// What was left aside since it never ends. It is kept: a task that is forgotten cannot be freed.
    var leftAside: ContiguousArray<Work> = []
  }

  private let contents = Mutex(Contents())
  /// Called with the names of the effects that keep the lane busy for longer than ``turnLimit``. Set by the thread that
  /// runs the lane, and called by ``run()``.
  nonisolated(unsafe) var onEndlessRun: (([String]) -> Void)?

  public init() {}

  public var taskExecutor: (any TaskExecutor)? { self }
  public var poolExecutor: (any TaskExecutor)? { self }

  public func taskExecutor(named effect: String) -> (any TaskExecutor)? {
    EffectExecutor(effect, self)
  }

  /// Whether nothing waits.
  public var isIdle: Bool { contents.withLock { $0.work.isEmpty } }

  /// How many turns ``run()`` takes before it reports effects that keep the lane busy, and gives up.
  ///
  /// A turn runs what waited at its beginning.
  public var turnLimit: Int {
    get { contents.withLock { $0.turnLimit } }
    set { contents.withLock { $0.turnLimit = newValue } }
  }

  public func execute(_ job: @escaping @Sendable () -> Void) { add(.closure(job)) }

  public func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job), nil)) }

  fileprivate func enqueue(_ job: UnownedJob, of effect: EffectExecutor) { add(.job(job, effect)) }

  private func add(_ work: Work) { contents.withLock { $0.work.append(work) } }

  /// Runs what waits, and what that leads to, until nothing waits any more.
  ///
  /// If that takes more than ``turnLimit`` turns the effects that are at it are reported, and cancelled by
  /// their test store. What does not end within as many turns again is left aside.
  ///
  /// Called from within the lane's own work it does nothing: the outer call runs what is left.
  /// - Returns: how many pieces of work were run.
  @discardableResult
  public func run() -> Int {
    let (isNested, limit) = contents.withLock { contents in
      defer { contents.isRunning = true }
      return (contents.isRunning, contents.turnLimit)
    }
    guard !isNested else { return 0 }
    var (count, turns, isReported) = (0, 0, false)
    while let batch = takeBatch() {
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
    An effect must wait for a clock or for something else that the test decides, not ask again and again.
    """
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  public func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }
}

/// The executor of one effect on a lane, which knows its name.
private final class EffectExecutor: TaskExecutor {
  let name: String
  private let lane: ManualLane

  init(_ name: String, _ lane: ManualLane) {
    self.name = name
    self.lane = lane
  }

  func enqueue(_ job: consuming ExecutorJob) { lane.enqueue(UnownedJob(job), of: self) }
}
