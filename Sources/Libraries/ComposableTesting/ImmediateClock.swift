import Locking

/// A clock on which each sleep ends immediately and advances time to its deadline.
///
/// Use it in tests in which waiting itself does not matter. A timer on this clock ticks without
/// end, so the lane never becomes idle: use a ``TestClock`` for timers.
public final class ImmediateClock: Clock {
  /// A point in time, measured from the creation of the clock, as on a ``TestClock``.
  public typealias Instant = TestClock.Instant

  private let time = Guarded(Instant())

  /// Makes a clock whose time is zero.
  public init() {}

  public var now: Instant { time.withLock { $0 } }
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Advances time to `deadline` and returns.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try Task.checkCancellation()
    time.withLock { $0 = max($0, deadline) }
    await Task.yield()
  }
}
