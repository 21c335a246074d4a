/// A rate limiter with an interval that may be changed; it uses it from its next window on.
public protocol IntervalLimiter: RateLimiter {
  var interval: Interval { get set }
}

extension KeepAll: IntervalLimiter {}
extension LatestWins: IntervalLimiter {}
extension KeyedLatestWins: IntervalLimiter {}
extension Aggregate: IntervalLimiter {}
extension SummaryWindow: IntervalLimiter {}

/// A rate limiter whose interval widens while deliveries are expensive.
public struct Paced<Limiter: IntervalLimiter> {
  public var limiter: Limiter
  @usableFromInline var pace: AdaptiveInterval

  /// A limiter that keeps its interval until it is given another ``AdaptiveInterval``.
  @inlinable public init(_ limiter: Limiter) {
    self.limiter = limiter
    pace = AdaptiveInterval(wanted: limiter.interval, maximum: limiter.interval)
  }

  /// Takes over how the interval widens; what is held keeps its deadline.
  @inlinable public mutating func follow(_ pace: AdaptiveInterval) {
    self.pace = pace
    limiter.interval = pace.current
  }

  /// Takes the measured cost of one delivery.
  @inlinable public mutating func record(cost: Interval) {
    pace.record(cost: cost)
    limiter.interval = pace.current
  }

  @inlinable public var pending: Int { limiter.pending }
  @inlinable public var deadline: Instant? { limiter.deadline }

  @inlinable public mutating func wake(at now: Instant) -> Step<Limiter.Output> {
    limiter.wake(at: now)
  }

  @inlinable public mutating func flush(at now: Instant) -> Step<Limiter.Output> {
    limiter.flush(at: now)
  }
}

extension Paced: Sendable where Limiter: Sendable {}
