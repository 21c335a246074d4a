import Intake
import RateLimiting
import YAMLReader

extension ConfigurationKey {
  /// Returns the key that sets how long events of a kind may be delayed.
  static func throttling(_ kind: ThrottledKind) -> ConfigurationKey {
    ConfigurationKey(
      path: kind.key, meaning: "\(kind.meaning): \(kind.limitClass.promise).",
      standard: standardText(kind)
    ) { value, configuration throws(ConfigurationError) in
      try configuration.rooms.throttling.set(kind, value)
    }
  }

  private static func standardText(_ kind: ThrottledKind) -> String {
    let standard = ThrottlePolicies.standard(kind)
    let interval =
      standard.interval == ThrottlePolicies.frame
      ? ThrottlePolicies.frameWord : standard.interval.text
    guard standard.maximumStaleness > standard.interval else { return "{interval: \(interval)}" }
    return "{interval: \(interval), maximum-staleness: \(standard.maximumStaleness.text)}"
  }
}

extension LimitClass {
  /// What the daemon delivers if events arrive faster than the interval allows.
  fileprivate var promise: String {
    switch self {
    case .neverDrop: "immediately"
    case .keepAll: "all are kept, one batch per interval"
    case .latestWins: "the newest one per interval"
    case .summary: "extremes and means per interval"
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
