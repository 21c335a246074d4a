/// An interval that widens, up to a maximum, while deliveries are expensive.
///
/// Deliveries may use a fraction of the time, the *budget*. If a delivery costs 4 ms and the budget
/// is one tenth, one delivery every 40 ms is affordable. The cost is smoothed over about four
/// deliveries. The interval widens immediately but narrows by at most an eighth per delivery, so
/// that it does not oscillate. The interval is never shorter than the wanted interval or longer
/// than the maximum, which therefore limits the staleness of the thinned stream.
///
/// The owner records the measured cost of each delivery and passes ``current`` to its limiters as
/// their `interval`, which applies starting with their next window.
///
/// A value without a clock, computed in whole nanoseconds: the same costs produce the same
/// intervals.
public struct AdaptiveInterval: Hashable, Sendable {
  /// The interval while deliveries are cheap.
  public let wanted: Interval
  /// The longest interval, however expensive deliveries become.
  public let maximum: Interval
  /// The fraction of the time that deliveries may use, in thousandths.
  public let budgetPerMille: Int64
  @usableFromInline var now: Interval
  @usableFromInline var smoothedCost: Int64?

  /// Makes an adaptive interval. `wanted` must be above zero, `maximum` at least `wanted`, and
  /// `budgetPerMille` between 1 and 1,000.
  @inlinable public init(wanted: Interval, maximum: Interval, budgetPerMille: Int64 = 100) {
    precondition(wanted > .zero, "a window needs an interval above zero")
    precondition(maximum >= wanted, "the maximum is below the configured interval")
    precondition((1...1_000).contains(budgetPerMille), "the budget must be 1 to 1,000 thousandths")
    self.wanted = wanted
    self.maximum = maximum
    self.budgetPerMille = budgetPerMille
    now = wanted
  }

  /// The interval to use for the next window.
  @inlinable public var current: Interval { now }

  /// Records the measured cost of one delivery; a negative cost counts as zero.
  @inlinable public mutating func record(cost: Interval) {
    let sample = max(cost.nanoseconds, 0)
    let smoothed = smoothedCost.map { $0 + (sample - $0) / 4 } ?? sample
    smoothedCost = smoothed
    let affordable = smoothed.saturatingMultiplied(by: 1_000) / budgetPerMille
    // The step is rounded up, so that narrowing reaches the wanted interval.
    let narrowed = now.nanoseconds - (now.nanoseconds / 8 + 1)
    let next = max(affordable, narrowed)
    now = min(max(Interval(nanoseconds: next), wanted), maximum)
  }
}

/// A rate limiter whose interval can be changed. A new interval applies starting with the next
/// window.
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

  /// Makes a limiter that keeps its interval until ``follow(_:)`` sets another one.
  @inlinable public init(_ limiter: Limiter) {
    self.limiter = limiter
    pace = AdaptiveInterval(wanted: limiter.interval, maximum: limiter.interval)
  }

  /// Adopts another adaptive interval. Values already held keep their deadline.
  @inlinable public mutating func follow(_ pace: AdaptiveInterval) {
    self.pace = pace
    limiter.interval = pace.current
  }

  /// Records the measured cost of one delivery.
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
