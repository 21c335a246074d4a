import Dispatch
package import Platform
import Synchronization

/// Runs tasks that are heavy on the CPU, on threads of its own at low priority.
///
/// Effects, connections and rooms never run here, so they never wait for such work. Tasks are
/// expected to yield about once a millisecond. The longest stretch without a yield is measured in
/// processor time: at low priority a thread may be without a processor for long, and does not hold
/// one then.
package final class WorkExecutor: TaskExecutor {
  private struct Entry: Sendable {
    let job: UnownedJob
    /// `nil` for a job of no particular effect.
    let executor: EffectExecutor?
  }

  private struct Queue: Sendable {
    var jobs: [Entry] = []
    var first = 0
    var isStopped = false
  }

  private let queue = Guarded(Queue())
  private let available = DispatchSemaphore(value: 0)
  private let longest = Atomic<UInt64>(0)
  private let longestByEffect = Guarded<[String: UInt64]>([:])
  /// How many tasks may run at once.
  package let width: Int

  /// Makes an executor whose tasks wait for ``start()``.
  ///
  /// - Parameter width: number of threads; above zero.
  package init(width: Int) {
    precondition(width > 0)
    self.width = width
  }

  /// Starts the threads; none is left running if one of them cannot be started.
  ///
  /// - Parameter onRefusal: called once, on one of the threads, if the kernel refuses them a lower
  ///   priority; they work all the same.
  package func start(
    onRefusal: @escaping @Sendable (SystemError) -> Void = { _ in }
  ) throws(SystemError) {
    do throws(SystemError) {
      for index in 0..<width {
        try ServiceThread.start(name: "work-\(index)") { [self] in
          do throws(SystemError) {
            try ThreadPriority.lower()
          } catch {
            // The others are refused for the same reason.
            if index == 0 { onRefusal(error) }
          }
          work()
        }
      }
    } catch {
      stop()
      throw error
    }
  }

  /// Ends the threads once the jobs given so far are done.
  package func stop() {
    queue.withLock { $0.isStopped = true }
    for _ in 0..<width { available.signal() }
  }

  /// The longest time for which a task ran without yielding, in nanoseconds on a processor.
  package var longestSliceNanoseconds: UInt64 { longest.load(ordering: .relaxed) }

  /// The same by the name of the effect, for those that run by ``executor(named:)``.
  package var longestSlicesByEffect: [String: UInt64] { longestByEffect.withLock { $0 } }

  /// An executor for an effect, on the same threads, by which its longest slice has a name.
  package func executor(named effect: String) -> any TaskExecutor {
    EffectExecutor(name: effect, work: self)
  }

  package func enqueue(_ job: consuming ExecutorJob) { enqueue(job, of: nil) }

  private func enqueue(_ job: consuming ExecutorJob, of executor: EffectExecutor?) {
    let entry = Entry(job: UnownedJob(job), executor: executor)
    queue.withLock { $0.jobs.append(entry) }
    available.signal()
  }

  private final class EffectExecutor: TaskExecutor {
    let name: String
    private let work: WorkExecutor

    init(name: String, work: WorkExecutor) { (self.name, self.work) = (name, work) }

    func enqueue(_ job: consuming ExecutorJob) { work.enqueue(job, of: self) }
  }

  private func work() {
    while true {
      available.wait()
      guard runNext() else { return }
    }
  }

  /// Runs the oldest job on the calling thread. Returns `false` if no job is waiting.
  package func runNext() -> Bool {
    guard let next = next() else { return false }
    let start = ThreadClock.nanoseconds()
    next.job.runSynchronously(
      on: next.executor?.asUnownedTaskExecutor() ?? asUnownedTaskExecutor())
    let slice = ThreadClock.nanoseconds() - start
    longest.max(slice, ordering: .relaxed)
    if let name = next.executor?.name {
      longestByEffect.withLock { $0[name] = max($0[name] ?? 0, slice) }
    }
    return true
  }

  /// The oldest job; `nil` if there is none.
  private func next() -> Entry? {
    queue.withLock { queue in
      guard queue.first < queue.jobs.count else { return nil }
      let entry = queue.jobs[queue.first]
      queue.first += 1
      if queue.first == queue.jobs.count {
        queue.jobs.removeAll(keepingCapacity: true)
        queue.first = 0
      }
      return entry
    }
  }
}
