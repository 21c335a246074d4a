import Suggestions
import Wording

/// A condition that every run has to meet, such as `view(HostView).mean < 16ms`.
///
/// Metrics are `hangs`, `microhangs`, `longest`, `hitch`, `frames`, `actions`, `events.received` (`applied`,
/// `coalesced`, `rejected`, `pending`), `latency.p50` (`p95`, `p99`, `max`), of a view `evaluations`, `avoidable`, `mean`,
/// `self`, `p95` and `max`, and of an effect such as `effect(payment).answered.p95` also `started`, `failed`,
/// `abandoned` and `queued`.
///
/// Behind the value there may be, in any order,
///
/// - `after 5s`: only turns that begin then or later count,
/// - `without appearance`: what views cost once, when they appear, is left out of the turns; both apply to `hangs`,
///   `microhangs` and `longest`,
/// - `for NAME`: it applies only to the runs of that variant or device.
///
/// In a sweep all seeds have to meet it. `p95(microhangs) < 12` asks for the percentile of the seeds instead: 95 % of
/// them have no more. With one seed that is its value.
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
  /// Of the seeds; nil if all have to meet it.
  let percentile: Int?
  let metric: ThresholdMetric
  let window: TurnWindow
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
    let clauses = try Clauses(takenFrom: &words)
    scope = clauses.scope
    window = clauses.window
    let condition = words.joined(separator: " ")
    // The longer signs come first, so that `<=` is not read as `<`.
    guard
      let (sign, range) = Comparison.allCases.lazy.compactMap({ sign in
        condition.firstRange(of: sign.rawValue).map { (sign, $0) }
      }).first
    else {
      throw ThresholdProblem(
        "expected a metric, a comparison (< <= > >= == !=) and a value, such as 'hangs == 0'")
    }
    let name = condition[..<range.lowerBound].filter { $0 != " " }
    let value = condition[range.upperBound...].split(separator: " ").map(String.init)
    if value.count > 1, let near = Spelling.nearest(to: value[1], among: Clauses.words) {
      throw ThresholdProblem("'\(value[1])' is not understood; did you mean '\(near)'?")
    }
    (percentile, metric) = try Self.metric(name)
    guard window == TurnWindow() || metric.isOfTurns else {
      throw ThresholdProblem(
        "'after' and 'without appearance' apply to hangs, microhangs and longest only")
    }
    comparison = sign
    bound = try Self.bound(value.joined(), metric)
  }

  /// A metric, or a percentile of one: `p95(microhangs)`.
  static func metric(
    _ text: String
  ) throws(ThresholdProblem) -> (percentile: Int?, metric: ThresholdMetric) {
    guard text.hasPrefix("p"), text.hasSuffix(")"), let open = text.firstIndex(of: "("),
      let percentile = Int(text[text.index(after: text.startIndex)..<open])
    else { return (nil, try ThresholdMetric(text)) }
    guard (1...99).contains(percentile) else {
      throw ThresholdProblem("percentiles are from p1 to p99, not p\(percentile)")
    }
    let inner = text[text.index(after: open)...].dropLast()
    return (percentile, try ThresholdMetric(String(inner)))
  }

  /// What may stand behind the value.
  private struct Clauses {
    static let words = ["after", "for", "without"]
    var scope: String?
    var window = TurnWindow()

    init(takenFrom words: inout [String]) throws(ThresholdProblem) {
      var seen: Set<String> = []
      while words.count > 2, Self.words.contains(words[words.count - 2]) {
        let value = words.removeLast()
        let clause = words.removeLast()
        guard seen.insert(clause).inserted else {
          throw ThresholdProblem("says '\(clause)' twice")
        }
        switch clause {
        case "for": scope = value
        case "after":
          guard let time = Quantity.nanoseconds(value) else {
            throw ThresholdProblem("'after \(value)': expected a time, such as 'after 5s'")
          }
          window.start = time
        default:
          guard value == "appearance" else {
            throw ThresholdProblem(
              "'without \(value)' is not understood; did you mean 'without appearance'?")
          }
          window.withoutAppearance = true
        }
      }
    }
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
