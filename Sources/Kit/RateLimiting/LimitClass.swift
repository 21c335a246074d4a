/// The ways to thin a stream. The raw value is the name in configuration files.
public enum LimitClass: String, Hashable, Sendable, CaseIterable {
  /// In order, at once (``NeverDrop``).
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

  /// Whether the class may discard an input in favour of a newer one. Such a class must not be used
  /// for events that all have to count.
  public var mayCoalesce: Bool {
    switch self {
    case .latestWins, .progress: true
    case .neverDrop, .keepAll, .summary, .aggregate: false
    }
  }
}
