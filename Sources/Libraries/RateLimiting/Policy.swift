/// A valid rate-limiting policy for one kind of event, made from a ``PolicyDescription``.
public enum Policy: Hashable, Sendable {
  /// All events, in order and immediately.
  case neverDrop
  /// Batches of at most `capacity` elements.
  case keepAll(Window, capacity: Int)
  /// The newest value of each key, for at most `keyCapacity` keys.
  case latestWins(Window, leading: Bool, keyCapacity: Int)
  /// Extremes and sums.
  case summary(Window)
  /// One value per whole percent; at most one per `interval` while the total is unknown.
  case progress(interval: Interval)
  /// Exact sums for at most `keyCapacity` keys at a time.
  case aggregate(Window, keyCapacity: Int)

  /// An interval, and the maximum to which it may widen under load. Windows are made only by
  /// validation, so they are always consistent.
  public struct Window: Hashable, Sendable {
    /// The interval while deliveries are cheap; above zero.
    public let interval: Interval
    /// The longest interval, which limits staleness; at least `interval`.
    public let maximumStaleness: Interval

    /// Returns an interval that widens up to the maximum of this window.
    public func adaptive(budgetPerMille: Int64 = 100) -> AdaptiveInterval {
      AdaptiveInterval(
        wanted: interval, maximum: maximumStaleness, budgetPerMille: budgetPerMille)
    }
  }

  /// The class of the policy.
  public var limitClass: LimitClass {
    switch self {
    case .neverDrop: .neverDrop
    case .keepAll: .keepAll
    case .latestWins: .latestWins
    case .summary: .summary
    case .progress: .progress
    case .aggregate: .aggregate
    }
  }
}
