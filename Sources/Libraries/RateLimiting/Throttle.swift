/// The usual throttle of effect operators. The first value is delivered immediately. After that, at
/// most one value per interval is delivered: the newest or the oldest of the values that arrived in
/// the interval.
///
/// Unlike the common asynchronous throttle, this one has a trailing edge, so a kept value does not
/// wait for the next value.
///
/// - Complexity: every operation is O(1) and allocates nothing.
public struct Throttle<Value>: RateLimiter {
  /// The value of an interval that is kept until the end of the interval.
  public enum Kept: Hashable, Sendable {
    /// The first value. Later values count as coalesced.
    case first
    /// The last value. Earlier values count as coalesced.
    case latest
  }

  @usableFromInline var window: LatestWins<Value>

  /// The value of an interval that is kept.
  public let keeping: Kept

  /// Makes a limiter. `interval` must be above zero.
  @inlinable public init(interval: Interval, keeping: Kept = .latest) {
    window = LatestWins(interval: interval)
    self.keeping = keeping
  }

  /// The shortest time between two deliveries. A change applies starting with the next delivery.
  @inlinable public var interval: Interval {
    get { window.interval }
    set { window.interval = newValue }
  }

  @inlinable public var pending: Int { window.pending }
  @inlinable public var deadline: Instant? { window.deadline }

  /// Delivers a value, keeps it, or drops it in favour of the value that is already kept.
  @inlinable public mutating func push(_ value: Value, at now: Instant) -> Step<Value> {
    switch keeping {
    case .latest:
      return window.push(value, at: now)
    case .first:
      guard let deadline = window.deadline else { return window.push(value, at: now) }
      var step = window.wake(at: now)
      guard step.output != nil else { return Step(coalesced: 1, wake: deadline) }
      // The kept value was overdue and is delivered now. The new value opens the next interval.
      let next = window.push(value, at: now)
      step.wake = next.wake
      return step
    }
  }

  @inlinable public mutating func wake(at now: Instant) -> Step<Value> { window.wake(at: now) }
  @inlinable public mutating func flush(at now: Instant) -> Step<Value> { window.flush(at: now) }

  /// Drops the kept value, which counts as coalesced.
  @inlinable public mutating func supersede() -> Step<Value> { window.supersede() }
}

extension Throttle: Sendable where Value: Sendable {}
