/// The text-based format of metrics for Prometheus, version 0.0.4.
package enum ExpositionFormat {
  /// Returns the text of metrics, with a line break after each line. Returns an empty string if
  /// there are no metrics. Metrics without samples are omitted.
  ///
  /// - Complexity: O(n) in the length of the text.
  package static func text(_ families: [MetricFamily]) -> String {
    var text = ""
    for family in families where !family.samples.isEmpty {
      text += "# HELP \(family.name) \(escaped(family.help, quotes: false))\n"
      text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
      for sample in family.samples {
        text += "\(sample.name)\(labels(sample.labels)) \(number(sample.value))\n"
      }
    }
    return text
  }

  /// Returns the labels sorted by name, but with the bound of a bucket last, as is customary.
  private static func labels(_ labels: [String: String]) -> String {
    if labels.isEmpty { return "" }
    let sorted = labels.sorted {
      ($0.key == "le" ? 1 : 0, $0.key) < ($1.key == "le" ? 1 : 0, $1.key)
    }
    let pairs = sorted.map { "\($0.key)=\"\(escaped($0.value, quotes: true))\"" }
    return "{\(pairs.joined(separator: ","))}"
  }

  static func number(_ value: Double) -> String {
    if value == .infinity { return "+Inf" }
    if value == -.infinity { return "-Inf" }
    if value.isNaN { return "NaN" }
    // A whole number is written without a fraction if it is exact.
    if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 { return "\(whole)" }
    return "\(value)"
  }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\"" where quotes: result += "\\\""
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
