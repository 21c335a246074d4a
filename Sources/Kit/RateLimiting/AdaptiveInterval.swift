/// An interval that widens while deliveries are expensive, within a bound.
///
/// Deliveries may take a share of the time, the *budget*. If a delivery costs 4 ms and the budget is
/// one tenth, one delivery per 40 ms is affordable. The cost is smoothed over some four deliveries;
/// the interval widens at once and narrows by at most an eighth per delivery, so that it does not
/// swing. It is never below the wanted interval nor above the bound, which therefore bounds the
/// staleness of what is thinned with it.
///
/// An owner records the measured cost of each delivery and gives ``current`` to its machines as their
/// `interval`; they use it from their next window on.
///
/// A value without a clock, in whole nanoseconds: the same costs give the same intervals.
public struct AdaptiveInterval: Hashable, Sendable {
  /// The interval while deliveries are cheap.
  public let wanted: Interval
  /// The bound: the longest interval, however expensive deliveries become.
  public let maximum: Interval
  /// The share of time that deliveries may take, in thousandths.
  public let budgetPerMille: Int64
  @usableFromInline var now: Interval
  @usableFromInline var smoothedCost: Int64?

  /// - Parameters:
  ///   - wanted: the interval while deliveries are cheap; above zero.
  ///   - maximum: the longest interval; at least `wanted`.
  ///   - budgetPerMille: the share of time that deliveries may take, 1 to 1,000 thousandths.
  @inlinable public init(wanted: Interval, maximum: Interval, budgetPerMille: Int64 = 100) {
    precondition(wanted > .zero, "a window needs an interval above zero")
    precondition(maximum >= wanted, "the bound is below the wanted interval")
    precondition((1...1_000).contains(budgetPerMille), "a budget is 1 to 1,000 thousandths")
    self.wanted = wanted
    self.maximum = maximum
    self.budgetPerMille = budgetPerMille
    now = wanted
  }

  /// The interval to use for the next window.
  @inlinable public var current: Interval { now }

  /// Whether the interval is wider than wanted.
  @inlinable public var isWidened: Bool { now > wanted }

  /// Takes the measured cost of one delivery; a negative one counts as zero.
  @inlinable public mutating func record(cost: Interval) {
    let sample = max(cost.nanoseconds, 0)
    let smoothed = smoothedCost.map { $0 + (sample - $0) / 4 } ?? sample
    smoothedCost = smoothed
    let affordable = smoothed.saturatingMultiplied(by: 1_000) / budgetPerMille
    // Rounded up, so that narrowing reaches its end.
    let narrowed = now.nanoseconds - (now.nanoseconds / 8 + 1)
    let next = max(affordable, narrowed)
    now = min(max(Interval(nanoseconds: next), wanted), maximum)
  }
}
