/// Thins a stream in which a new value makes older values worthless.
///
/// The first value after a rest of one interval is delivered immediately (leading edge). Of the
/// values that follow within the interval, the newest is delivered at the end of the interval
/// (trailing edge). At most one value is delivered per interval, and the last value is always
/// delivered. If `wake(at:)` is called in time, no value is older than one interval when it is
/// delivered. An overwritten value counts as coalesced.
///
/// - Complexity: every operation is O(1) and allocates nothing.
public struct LatestWins<Value>: RateLimiter {
  @usableFromInline enum State {
    /// Nothing has been delivered yet.
    case idle
    /// A value was delivered. The next value may be delivered at `until` or later.
    case resting(until: Instant)
    /// A value is held until `until`.
    case holding(Value, until: Instant)
  }

  @usableFromInline var state: State

  /// The shortest time between two deliveries. A new interval applies starting with the next
  /// window: a held value keeps its deadline.
  public var interval: Interval

  /// Whether the first value after a rest is delivered immediately.
  public let leading: Bool

  /// Makes a limiter. `interval` must be above zero.
  @inlinable public init(interval: Interval, leading: Bool = true) {
    precondition(interval > .zero, "a window needs an interval above zero")
    state = .idle
    self.interval = interval
    self.leading = leading
  }

  @inlinable public var pending: Int {
    switch state {
    case .idle, .resting: 0
    case .holding: 1
    }
  }

  @inlinable public var deadline: Instant? {
    switch state {
    case .idle, .resting: nil
    case .holding(_, let until): until
    }
  }

  /// Delivers a value, or holds it instead of the previously held one.
  @inlinable public mutating func push(_ value: Value, at now: Instant) -> Step<Value> {
    switch state {
    case .resting(let until) where now < until:
      return hold(value, until: until, coalesced: 0)
    case .idle, .resting:
      guard leading else { return hold(value, until: now + interval, coalesced: 0) }
      return deliver(value, at: now, coalesced: 0)
    case .holding(_, let until):
      // The wake-up is overdue, so the newer value is delivered instead of the held value.
      guard now < until else { return deliver(value, at: now, coalesced: 1) }
      return hold(value, until: until, coalesced: 1)
    }
  }

  @inlinable public mutating func wake(at now: Instant) -> Step<Value> {
    guard case .holding(_, let until) = state else { return Step() }
    guard until <= now else { return Step(wake: until) }
    return flush(at: now)
  }

  @inlinable public mutating func flush(at now: Instant) -> Step<Value> {
    guard case .holding(let value, _) = state else { return Step() }
    return deliver(value, at: now, coalesced: 0)
  }

  /// Drops the held value, because the caller delivers a newer value directly, for example at the
  /// end of a drag. The dropped value counts as coalesced.
  @inlinable public mutating func supersede() -> Step<Value> {
    guard case .holding(_, let until) = state else { return Step() }
    state = .resting(until: until)
    return Step(coalesced: 1)
  }

  @inlinable mutating func hold(
    _ value: Value, until: Instant, coalesced: Int
  ) -> Step<Value> {
    state = .holding(value, until: until)
    return Step(coalesced: coalesced, wake: until)
  }

  @inlinable mutating func deliver(
    _ value: Value, at now: Instant, coalesced: Int
  ) -> Step<Value> {
    state = .resting(until: now + interval)
    return Step(output: value, applied: 1, coalesced: coalesced)
  }
}

extension LatestWins: Sendable where Value: Sendable {}
extension LatestWins.State: Sendable where Value: Sendable {}
