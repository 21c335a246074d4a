import Wording
import YAMLReader

extension Configuration {
  /// The keys that limit the age and the total size of recordings.
  static let retentionKeys: [FileKey<Configuration>] = [
    .value(
      "recordings.maximumAge",
      "Time from the end of a recording to its deletion, such as 30d or 12h, unless it is in use.",
      \.retention.maximumAge, default: "off"
    ) { value throws(ConfigurationError) in
      try value.quantity("a time such as 30d, 12h or off", ageUnits)
    },
    .value(
      "recordings.maximumBytes",
      "Total size above which the oldest recordings are deleted, such as 500MiB or 20GiB.",
      \.retention.maximumBytes, default: "off"
    ) { value throws(ConfigurationError) in
      try value.quantity("a size such as 500MiB, 20GiB or off", sizeUnits)
    },
  ]

  /// The units of an age, with their factors in milliseconds.
  private static let ageUnits: [(suffix: String, factor: Int64)] = [
    ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000),
  ]

  /// The units of a size, with their factors in bytes.
  private static let sizeUnits: [(suffix: String, factor: Int64)] = [
    ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40),
  ]
}

extension YAMLNode {
  /// Parses a number with a unit, and returns it in the smallest unit, at least 1; returns `nil`
  /// for `off`.
  fileprivate func quantity(
    _ expectation: String, _ units: [(suffix: String, factor: Int64)]
  ) throws(ConfigurationError) -> Int? {
    let text = try text()
    if text == "off" { return nil }
    let unit = units.first { text.hasSuffix($0.suffix) }
    guard let unit,
      let value = Quantity.decimal(text.dropLast(unit.suffix.count), times: unit.factor),
      value > 0
    else { throw problem("expected \(expectation)") }
    // The value is limited, so that sums of such values do not overflow.
    return Int(min(value, 1 << 60))
  }
}
