import Dispatch
import Locking
import Synchronization
package import SystemSupport

/// Runs CPU-intensive tasks on dedicated threads of low priority.
///
/// Rooms, connections and other effects never wait for such work, because they do not run here.
/// Tasks are expected to yield about once a millisecond. The longest run without a yield is
/// measured in processor time, because a thread of low priority may wait a long time for a
/// processor.
package final class WorkExecutor: TaskExecutor {
  private struct Entry: Sendable {
    let job: UnownedJob
    /// The executor that measures the effect; `nil` for a job without a named effect.
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
  /// The maximum number of tasks that run concurrently.
  package let width: Int

  /// Creates an executor with at least one thread. Tasks wait until ``start(onRefusal:)`` is
  /// called.
  package init(width: Int) {
    precondition(width > 0)
    self.width = width
  }

  /// Starts the threads. If one of them cannot be started, stops the others.
  ///
  /// - Parameter onRefusal: Called once, on one of the threads, if the kernel refuses to lower
  ///   their priority. The threads then run at normal priority.
  package func start(
    onRefusal: @escaping @Sendable (SystemError) -> Void = { _ in }
  ) throws(SystemError) {
    do throws(SystemError) {
      for index in 0..<width {
        try ServiceThread.start(name: "work-\(index)") { [self] in
          do throws(SystemError) {
            try ThreadPriority.lower()
          } catch {
            // The kernel refuses all threads for the same reason, so this is reported once.
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

  /// Ends the threads once all jobs that are queued now have run.
  package func stop() {
    queue.withLock { $0.isStopped = true }
    for _ in 0..<width { available.signal() }
  }

  /// The longest processor time that a task used without yielding, in nanoseconds.
  package var longestSliceNanoseconds: UInt64 { longest.load(ordering: .relaxed) }

  /// The longest processor time without a yield, in nanoseconds, for each effect that uses
  /// ``executor(named:)``.
  package var longestSlicesByEffect: [String: UInt64] { longestByEffect.withLock { $0 } }

  /// Returns an executor on the same threads that measures an effect separately.
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

  /// Runs the oldest job on the calling thread. Returns `false` if the queue is empty.
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

  /// Removes and returns the oldest job; `nil` if the queue is empty.
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
