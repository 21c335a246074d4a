/// Delivers the newest value when no other value has followed for a while.
///
/// With `maximumDelay`, values of a stream that never pauses are also delivered: the newest value,
/// at most that long after the first held value. Overwritten values count as coalesced.
///
/// - Complexity: every operation is O(1) and allocates nothing.
public struct Debounce<Value>: RateLimiter {
  @usableFromInline enum State {
    case idle
    /// `quiet` is the end of the pause, `limit` the end of the maximum delay.
    case holding(Value, quiet: Instant, limit: Instant)
  }

  @usableFromInline var state: State

  /// The pause before a delivery. A change applies starting with the next value.
  public var pause: Interval

  /// The longest time that a value can be delayed; nil means unlimited.
  public var maximumDelay: Interval?

  /// Makes a limiter. `pause` must be above zero, and `maximumDelay` at least `pause`.
  @inlinable public init(pause: Interval, maximumDelay: Interval? = nil) {
    precondition(pause > .zero, "the pause must be above zero")
    precondition(
      maximumDelay.map { $0 >= pause } ?? true, "the longest delay is below the pause")
    state = .idle
    self.pause = pause
    self.maximumDelay = maximumDelay
  }

  @inlinable public var pending: Int {
    switch state {
    case .idle: 0
    case .holding: 1
    }
  }

  @inlinable public var deadline: Instant? {
    switch state {
    case .idle: nil
    case .holding(_, let quiet, let limit): min(quiet, limit)
    }
  }

  /// Holds a value instead of the previously held one, and restarts the pause. If the previous
  /// value was overdue, delivers it.
  @inlinable public mutating func push(_ value: Value, at now: Instant) -> Step<Value> {
    var step = wake(at: now)
    var limit = maximumDelay.map { now + $0 } ?? Instant(nanoseconds: .max)
    if case .holding(_, _, let held) = state {
      step.coalesced += 1
      limit = held
    }
    let quiet = now + pause
    state = .holding(value, quiet: quiet, limit: limit)
    step.wake = min(quiet, limit)
    return step
  }

  @inlinable public mutating func wake(at now: Instant) -> Step<Value> {
    guard let deadline else { return Step() }
    guard deadline <= now else { return Step(wake: deadline) }
    return flush(at: now)
  }

  @inlinable public mutating func flush(at now: Instant) -> Step<Value> {
    guard case .holding(let value, _, _) = state else { return Step() }
    state = .idle
    return Step(output: value, applied: 1)
  }

  /// Drops the held value; it counts as coalesced.
  @inlinable public mutating func supersede() -> Step<Value> {
    guard case .holding = state else { return Step() }
    state = .idle
    return Step(coalesced: 1)
  }
}

extension Debounce: Sendable where Value: Sendable {}
extension Debounce.State: Sendable where Value: Sendable {}
