/// The classes of rate limiters. The raw value is the name in configuration files.
public enum LimitClass: String, Hashable, Sendable, CaseIterable {
  /// Events are delivered in order and immediately. Before such an event is applied, its owner
  /// handles the held events of the same feature. It either delivers them, so that a "clear" never
  /// overtakes earlier elements, or drops them, because the end of a drag replaces the changes
  /// during the drag.
  case neverDrop = "never-drop"
  /// All elements, in batches (``KeepAll``).
  case keepAll = "keep-all"
  /// The newest value, at both edges (``LatestWins``, ``KeyedLatestWins``).
  case latestWins = "latest-wins"
  /// Extremes and sums per window (``SummaryWindow``).
  case summary
  /// One value per whole percent, and the last value (``ProgressThinner``).
  case progress
  /// Exact sums (``Aggregate``).
  case aggregate

  /// Makes a class from its name in configuration files.
  public init(named name: String) throws(PolicyError) {
    guard let found = LimitClass(rawValue: name) else { throw .unknownClass(name) }
    self = found
  }
}
