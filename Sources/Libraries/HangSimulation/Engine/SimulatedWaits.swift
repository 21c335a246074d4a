import RateLimiting

/// The tasks that wait for a time of the simulation. Waiting tasks run on the simulation's
/// executors, and only the simulation resumes or cancels them. Belongs to the simulating thread.
final class SimulatedWaits: @unchecked Sendable {
  private var queue = EventQueue<UInt64>()
  private var waiting: [UInt64: CheckedContinuation<Void, any Error>] = [:]
  private var last: UInt64 = 0
  /// The time at which the current task runs.
  var now = VirtualTime.zero

  /// Waits until `time`; if `time` is `nil`, until the task is cancelled. Throws
  /// `CancellationError` if the task is cancelled.
  func wait(until time: VirtualTime?) async throws {
    last += 1
    let number = last
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation {
        (continuation: CheckedContinuation<Void, any Error>) in
        guard !Task.isCancelled else { return continuation.resume(throwing: CancellationError()) }
        waiting[number] = continuation
        if let time {
          queue.push(number, at: time)
          dropCancelled()
        }
      }
    } onCancel: {
      waiting.removeValue(forKey: number)?.resume(throwing: CancellationError())
    }
  }

  /// Removes cancelled tasks once they are more than half of the queue. Otherwise each cancelled
  /// task would remain until the end of its wait, which may be days away.
  private func dropCancelled() {
    guard queue.count > 1_024, queue.count > 2 * waiting.count else { return }
    // Rebuilds the queue in order, so that tasks with equal times keep their order.
    var remaining = EventQueue<UInt64>()
    while let (time, number) = queue.pop() {
      if waiting[number] != nil { remaining.push(number, at: time) }
    }
    queue = remaining
  }

  /// The time at which the next task resumes; `nil` if no task waits for a time.
  var nextTime: VirtualTime? {
    if queue.count == 0 { return nil }
    // Removes cancelled tasks at the front.
    while let first = queue.first, waiting[first] == nil { _ = queue.pop() }
    return queue.nextTime
  }

  /// Resumes the next task at its time, on the task's executor.
  func resumeNext() {
    guard let time = nextTime, let (_, number) = queue.pop() else { return }
    now = time
    waiting.removeValue(forKey: number)?.resume()
  }
}

/// The clock of a simulated screen's effects, which shows virtual time.
struct SimulatedEffectClock: Clock {
  struct Instant: InstantProtocol {
    var time: VirtualTime

    func advanced(by duration: Duration) -> Instant {
      Instant(time: time + VirtualTime(nanoseconds: Interval(duration).nanoseconds))
    }
    func duration(to other: Instant) -> Duration {
      .nanoseconds((other.time - time).nanoseconds)
    }
    static func < (left: Instant, right: Instant) -> Bool { left.time < right.time }
  }

  let waits: SimulatedWaits

  var now: Instant { Instant(time: waits.now) }
  var minimumResolution: Duration { .nanoseconds(1) }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try await waits.wait(until: deadline.time)
  }
}
