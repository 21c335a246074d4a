import Synchronization

/// A clock on which no sleep takes time: what would happen later happens at once, in order.
///
/// For tests of what follows a wait, where the wait itself is not the subject. Time moves to the
/// deadline of each sleep. A timer on this clock never rests: use a ``TestClock`` for it.
public final class ImmediateClock: Clock {
  /// A time since the clock was made, as on a ``TestClock``.
  public typealias Instant = TestClock.Instant

  private let time = Mutex(Instant())

  /// A clock whose time is zero.
  public init() {}

  public var now: Instant { time.withLock { $0 } }
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Moves time to `deadline` and returns.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try Task.checkCancellation()
    time.withLock { $0 = max($0, deadline) }
    await Task.yield()
  }
}
