import RateLimiting
import Rooms
import Throttling
import YAMLReader

extension Configuration {
  /// Returns the key that sets how long events of a kind may be delayed.
  static func throttlingKey(_ kind: ThrottledKind) -> FileKey<Configuration> {
    FileKey(
      path: kind.key, summary: "\(kind.summary): \(kind.limitClass.promise).",
      defaultValue: defaultText(kind)
    ) { value, configuration throws(ConfigurationError) in
      try configuration.rooms.throttling.set(kind, value)
    }
  }

  private static func defaultText(_ kind: ThrottledKind) -> String {
    let defaultValue = ThrottlePolicies.defaultPacing(kind)
    let interval =
      defaultValue.interval == ThrottlePolicies.frame
      ? ThrottlePolicies.frameWord : defaultValue.interval.text
    guard defaultValue.maximumStaleness > defaultValue.interval else {
      return "{interval: \(interval)}"
    }
    return "{interval: \(interval), maximum-staleness: \(defaultValue.maximumStaleness.text)}"
  }
}

extension LimitClass {
  /// What is guaranteed, as text for people, for events that arrive more often than once per
  /// interval.
  fileprivate var promise: String {
    switch self {
    case .neverDrop: "immediately"
    case .keepAll: "all are kept, one batch per interval"
    case .latestWins: "the newest event per interval"
    case .summary: "minimum, maximum and mean per interval"
    case .progress: "one per interval"
    case .aggregate: "exact sums per interval"
    }
  }
}

extension Interval {
  /// The interval as written in configuration files.
  fileprivate var text: String {
    if nanoseconds % 1_000_000_000 == 0 { return "\(nanoseconds / 1_000_000_000)s" }
    if nanoseconds % 1_000_000 == 0 { return "\(nanoseconds / 1_000_000)ms" }
    return "\(nanoseconds / 1_000)us"
  }
}
