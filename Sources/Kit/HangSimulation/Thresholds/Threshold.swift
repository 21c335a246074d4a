import Suggestions
import Wording

/// A condition that every run has to meet, such as `view(HostView).mean < 16ms`.
///
/// Metrics are `hangs`, `microhangs`, `longest`, `hitch`, `frames`, `actions`, `events.received` (`applied`,
/// `coalesced`, `rejected`, `pending`), `latency.p50` (`p95`, `p99`, `max`), of a view `evaluations`, `avoidable`, `mean`,
/// `self`, `p95` and `max`, and of an effect such as `effect(payment).answered.p95` also `started`, `failed`,
/// `abandoned` and `queued`. With `for NAME` at the end it applies only to the runs of that variant or device.
public struct Threshold: Hashable, Sendable {
  enum Comparison: String, Sendable, CaseIterable {
    case lessOrEqual = "<="
    case greaterOrEqual = ">="
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case greater = ">"

    func holds(_ left: Int64, _ right: Int64) -> Bool {
      switch self {
      case .less: left < right
      case .lessOrEqual: left <= right
      case .greater: left > right
      case .greaterOrEqual: left >= right
      case .equal: left == right
      case .notEqual: left != right
      }
    }
  }

  /// As written in the scenario.
  public let text: String
  let metric: ThresholdMetric
  let comparison: Comparison
  /// Nanoseconds for times (per second for hitches), thousandths for counts.
  let bound: Int64
  /// The variant or device that it applies to; nil for all.
  package let scope: String?

  /// Reads a condition. Names of views and effects are checked when it is applied to runs.
  ///
  /// - Throws: what is wrong with it, with a suggestion.
  public init(_ text: String) throws(ThresholdProblem) {
    self.text = text
    var words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    if words.count > 2, words[words.count - 2] == "for" {
      scope = words.removeLast()
      words.removeLast()
    } else {
      scope = nil
    }
    let condition = words.joined()
    // The longer signs come first, so that `<=` is not read as `<`.
    guard
      let (sign, range) = Comparison.allCases.lazy.compactMap({ sign in
        condition.firstRange(of: sign.rawValue).map { (sign, $0) }
      }).first
    else {
      throw ThresholdProblem(
        "expected a metric, a comparison (< <= > >= == !=) and a value, such as 'hangs == 0'")
    }
    metric = try ThresholdMetric(String(condition[..<range.lowerBound]))
    comparison = sign
    bound = try Self.bound(String(condition[range.upperBound...]), metric)
  }

  private static func bound(
    _ text: String, _ metric: ThresholdMetric
  ) throws(ThresholdProblem) -> Int64 {
    guard !text.isEmpty else { throw ThresholdProblem("has no value to compare with") }
    switch metric.unit {
    case .count:
      guard let value = Quantity.decimal(text[...], times: 1_000) else {
        throw ThresholdProblem("'\(text)' is not a plain number, as this metric requires")
      }
      return value
    case .milliseconds, .millisecondsPerSecond:
      let isRate = metric.unit == .millisecondsPerSecond
      let time = isRate && text.hasSuffix("/s") ? String(text.dropLast(2)) : text
      guard let value = Quantity.nanoseconds(time) else {
        let hint = Quantity.millionths(time) != nil ? "; did you mean '\(time)ms'?" : ""
        throw ThresholdProblem("'\(text)' is not a time, as this metric requires\(hint)")
      }
      return value
    }
  }
}
