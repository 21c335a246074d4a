/// The ways to thin a stream. The raw value is the name in configuration files.
public enum LimitClass: String, Hashable, Sendable, CaseIterable {
  /// In order, at once. Before such an event is applied, its owner delivers what the same feature
  /// holds back, so that a "clear" never overtakes the elements before it, or drops it in favour of
  /// the event, as the end of a drag replaces its changes.
  case neverDrop = "never-drop"
  /// Everything, in batches (``KeepAll``).
  case keepAll = "keep-all"
  /// The newest value, at both edges (``LatestWins``, ``KeyedLatestWins``).
  case latestWins = "latest-wins"
  /// Extremes and sums per window (``SummaryWindow``).
  case summary
  /// One value per whole percent, and the last (``ProgressThinner``).
  case progress
  /// Exact sums (``Aggregate``).
  case aggregate

  /// Finds a class by its name in configuration files.
  public init(named name: String) throws(PolicyError) {
    guard let found = LimitClass(rawValue: name) else { throw .unknownClass(name) }
    self = found
  }
}
