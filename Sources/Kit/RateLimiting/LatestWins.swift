/// Thins a stream in which a new value makes the older ones worthless.
///
/// The first value after a rest of one interval is delivered at once (leading edge); of those that
/// follow within the interval, the newest is delivered at its end (trailing edge). So at most one
/// value is delivered per interval, the last one always arrives, and, if `wake(at:)` is called in
/// time, no value is older than one interval when it is delivered. An overwritten value counts as
/// coalesced.
///
/// - Complexity: every operation is O(1) and allocates nothing.
public struct LatestWins<Value>: RateLimiter {
  @usableFromInline enum State {
    /// Nothing has been delivered yet.
    case idle
    /// A value was delivered; the next may follow from `until` on.
    case resting(until: Instant)
    /// A value is waiting for `until`.
    case holding(Value, until: Instant)
  }

  @usableFromInline var state: State

  /// The shortest time between two deliveries. A new interval applies from the next window on: a
  /// value that is held keeps its deadline.
  public var interval: Interval

  /// Whether the first value after a rest is delivered at once rather than at the end of a window.
  public let leading: Bool

  /// - Parameters:
  ///   - interval: the shortest time between two deliveries; above zero.
  ///   - leading: whether a value that comes after a rest passes at once.
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

  /// Takes a value: delivers it, or holds it instead of the one held before.
  @inlinable public mutating func push(_ value: Value, at now: Instant) -> Step<Value> {
    switch state {
    case .resting(let until) where now < until:
      return hold(value, until: until, coalesced: 0)
    case .idle, .resting:
      guard leading else { return hold(value, until: now + interval, coalesced: 0) }
      return deliver(value, at: now, coalesced: 0)
    case .holding(_, let until):
      // The wake is overdue: the newer value replaces the older one at the edge as well.
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

  /// Drops the held value, because the caller delivers something newer in another way (the end of a
  /// drag, say). The dropped value counts as coalesced.
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
