import Wording

/// A bound for a figure: a fixed value, or a multiple of the base's figure plus a value.
struct ThresholdBound: Hashable, Sendable {
  /// The factor of the base, in millionths; `nil` for a fixed value.
  private var factor: Int64?
  /// The fixed or added value, in the unit of ``ThresholdMetric/value(in:_:)``.
  private var offset: Int64

  var isRelative: Bool { factor != nil }

  func value(base: Int64 = 0) -> Int64 {
    Int64(clamping: Int128(base) * Int128(factor ?? 0) / 1_000_000 + Int128(offset))
  }

  /// - Parameter text: The bound without spaces.
  init(_ text: String, _ metric: ThresholdMetric) throws(ThresholdProblem) {
    guard text.hasPrefix("base") else {
      offset = try metric.read(text)
      return
    }
    (factor, offset) = (1_000_000, 0)
    var rest = text.dropFirst(4)
    func removeNumber() -> String {
      let number = rest.dropFirst().prefix { $0 != "+" && $0 != "-" }
      rest = rest.dropFirst(1 + number.count)
      return String(number)
    }
    if rest.first == "*" {
      let number = removeNumber()
      guard let factor = Quantity.millionths(number) else {
        throw ThresholdProblem("'base * \(number)': expected a factor, such as 'base * 1.1'")
      }
      self.factor = factor
    }
    if let sign = rest.first, sign == "+" || sign == "-" {
      offset = (sign == "-" ? -1 : 1) * (try metric.read(removeNumber()))
    }
    guard rest.isEmpty else {
      throw ThresholdProblem(
        "'\(text)' is not understood; write 'base', 'base * 1.1', or 'base * 1.1 + 2'")
    }
  }
}

extension ThresholdMetric {
  /// Parses a value with the unit of the metric.
  fileprivate func read(_ text: String) throws(ThresholdProblem) -> Int64 {
    guard !text.isEmpty else { throw ThresholdProblem("the value after the comparison is missing") }
    switch unit {
    case .count:
      guard let value = Quantity.decimal(text[...], times: 1_000) else {
        throw ThresholdProblem("'\(text)' is not a number; this metric needs a plain number")
      }
      guard value.isMultiple(of: 1_000) else {
        throw ThresholdProblem("'\(text)' is not a whole number; this metric is a count")
      }
      return value
    case .share:
      guard let share = Quantity.share(text) else {
        throw ThresholdProblem("'\(text)' is not a percentage; this metric needs 0% to 100%")
      }
      return share
    case .milliseconds: return try Self.time(text, suffix: "")
    case .millisecondsPerSecond:
      guard text.hasSuffix("/s") else {
        let hint =
          Quantity.nanoseconds(text) != nil ? "; did you mean '\(text)/s'?" : ", such as 5ms/s"
        throw ThresholdProblem("'\(text)' is not a time per second\(hint)")
      }
      return try Self.time(String(text.dropLast(2)), suffix: "/s")
    }
  }

  private static func time(_ text: String, suffix: String) throws(ThresholdProblem) -> Int64 {
    guard let value = Quantity.nanoseconds(text) else {
      let hint = Quantity.millionths(text) != nil ? "; did you mean '\(text)ms\(suffix)'?" : ""
      throw ThresholdProblem("'\(text)\(suffix)' is not a time\(hint)")
    }
    return value
  }
}
