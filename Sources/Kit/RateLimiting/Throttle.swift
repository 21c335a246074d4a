/// The classic throttle of effect operators: the first value passes at once, then at most one per
/// interval, which is either the newest or the oldest of those that came meanwhile.
///
/// Unlike the common asynchronous throttle it has a trailing edge, so nothing that is kept hangs
/// unseen until the next value comes.
///
/// - Complexity: every operation is O(1) and allocates nothing.
public struct Throttle<Value>: RateLimiter {
  /// Which of the values that come within one interval is kept for its end.
  public enum Kept: Hashable, Sendable {
    /// The one that came first; those after it count as coalesced.
    case first
    /// The one that came last; those before it count as coalesced.
    case latest
  }

  @usableFromInline var window: LatestWins<Value>

  /// Which value of an interval is kept.
  public let keeping: Kept

  /// - Parameters:
  ///   - interval: the shortest time between two deliveries; above zero.
  ///   - keeping: which value of an interval is delivered at its end.
  @inlinable public init(interval: Interval, keeping: Kept = .latest) {
    window = LatestWins(interval: interval)
    self.keeping = keeping
  }

  /// The shortest time between two deliveries. A change applies from the next delivery on.
  @inlinable public var interval: Interval {
    get { window.interval }
    set { window.interval = newValue }
  }

  @inlinable public var pending: Int { window.pending }
  @inlinable public var deadline: Instant? { window.deadline }

  /// Takes a value: delivers it, keeps it, or lets it give way to the one already kept.
  @inlinable public mutating func push(_ value: Value, at now: Instant) -> Step<Value> {
    switch keeping {
    case .latest:
      return window.push(value, at: now)
    case .first:
      guard let deadline = window.deadline else { return window.push(value, at: now) }
      var step = window.wake(at: now)
      guard step.output != nil else { return Step(coalesced: 1, wake: deadline) }
      // The kept value was overdue and goes out now; the new one opens the next interval.
      let next = window.push(value, at: now)
      step.wake = next.wake
      return step
    }
  }

  @inlinable public mutating func wake(at now: Instant) -> Step<Value> { window.wake(at: now) }
  @inlinable public mutating func flush(at now: Instant) -> Step<Value> { window.flush(at: now) }

  /// Drops the kept value; it counts as coalesced.
  @inlinable public mutating func supersede() -> Step<Value> { window.supersede() }
}

extension Throttle: Sendable where Value: Sendable {}
