import Wording

/// A condition that every run must meet, such as `view(HostView).mean < 16ms`.
///
/// The metrics are:
///
/// - Counts of turns: `hangs`, `microhangs` (excluding hangs), and `turns.over(250ms)` (all turns
///   of at least that length).
/// - `longest`, `hitch` (in `ms/s`), `busy` (in `%`), `frame.p50` (`p95`, `p99`, `max`), `frames`,
///   `frames.frozen`, `actions`.
/// - `events.received` (`applied`, `coalesced`, `rejected`, `pending`), `latency.p50` (`p95`,
///   `p99`, `max`).
/// - Of a view: `evaluations`, `avoidable`, `mean`, `self`, `p95`, and `max`.
/// - Measured on the simulating machine, and slightly different in each run: `growth`, the number
///   of views and actions whose work grows with the state; `view(ChatView).growth` or
///   `action(chat.messages).growth`, the time that each element adds to an evaluation or a
///   reduction on the device.
/// - Of an effect: `effect(payment).answered.p50` (`p95`, `p99`, `max`), `queued` with the same
///   percentiles, `started`, `failed`, and `abandoned`.
///
/// The value may be relative: `microhangs <= base * 1.1`, `longest < base + 20ms`. The base is the
/// first variant on the same device. When two reports are compared, the base is the first report.
///
/// These clauses may follow the value, in any order:
///
/// - `after 5s`: only turns that begin at that time or later count.
/// - `without appearance`: the one-time costs of appearing views are subtracted from turns. Both
///   clauses apply to counts of turns and to `longest`.
/// - `for NAME` or `for DEVICE, VARIANT`: the condition applies only to the runs of that variant,
///   of that device, or of both.
///
/// In a sweep, all seeds must meet the condition. `p95(microhangs) < 12` checks a percentile over
/// the seeds instead: the value that 95 % of them do not exceed. It needs 20 seeds.
///
/// A condition without data is not met: `view(PollView).evaluations == 0` fails if the view never
/// appeared. A condition is skipped if its runs were not chosen, or if it is a percentile over
/// seeds and there is only one seed.
public struct Threshold: Hashable, Sendable {
  enum Comparison: String, Sendable, CaseIterable {
    case lessOrEqual = "<="
    case greaterOrEqual = ">="
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case greater = ">"

    func holds<Number: Comparable>(_ left: Number, _ right: Number) -> Bool {
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

  /// The condition as written in the scenario.
  public let text: String
  /// The percentile over the seeds; `nil` if all seeds must meet the condition.
  let percentile: Int?
  let metric: ThresholdMetric
  let window: TurnWindow
  let comparison: Comparison
  let bound: ThresholdBound
  /// The runs to which the condition applies; `nil` for all.
  package let scope: ThresholdScope?

  /// Parses a condition. Names of views, actions, and effects are checked when the condition is
  /// applied to runs.
  ///
  /// - Throws: A description of the problem, with a suggestion.
  public init(_ text: String) throws(ThresholdProblem) {
    self.text = text
    // The longer operators are tried first, so that `<=` is not parsed as `<`.
    guard
      let (sign, range) = Comparison.allCases.lazy.compactMap({ sign in
        text.firstRange(of: sign.rawValue).map { (sign, $0) }
      }).first
    else {
      throw ThresholdProblem(
        "expected a metric, a comparison (< <= > >= == !=), and a value, such as 'hangs == 0'")
    }
    let clauses = try ThresholdClauses(String(text[range.upperBound...]))
    (percentile, metric) = try Self.metric(
      String(text[..<range.lowerBound].filter { !$0.isWhitespace }))
    comparison = sign
    bound = try ThresholdBound(clauses.value, metric)
    (scope, window) = (clauses.scope, clauses.window)
    guard window == TurnWindow() || metric.isOfTurns else {
      throw ThresholdProblem(
        "'after' and 'without appearance' apply only to hangs, microhangs, turns.over, and longest")
    }
  }

  /// Parses a metric, or a percentile of a metric: `p95(microhangs)`.
  static func metric(
    _ text: String
  ) throws(ThresholdProblem) -> (percentile: Int?, metric: ThresholdMetric) {
    guard text.hasPrefix("p"), text.hasSuffix(")"), let open = text.firstIndex(of: "("),
      let percentile = Int(text[text.index(after: text.startIndex)..<open])
    else { return (nil, try ThresholdMetric(text)) }
    guard (1...99).contains(percentile) else {
      throw ThresholdProblem("percentiles must be from p1 to p99, not p\(percentile)")
    }
    let inner = text[text.index(after: open)...].dropLast()
    return (percentile, try ThresholdMetric(String(inner)))
  }
}

/// The value of a condition, and the clauses after it.
private struct ThresholdClauses {
  private static let words = ["after", "for", "without"]
  /// The value without spaces.
  var value = ""
  var scope: ThresholdScope?
  var window = TurnWindow()

  init(_ text: String) throws(ThresholdProblem) {
    var words = text.split(whereSeparator: \.isWhitespace).map(String.init)[...]
    let values = Self.removeArgument(of: &words)
    value = values.joined()
    if values.count > 1, let near = Spelling.nearest(to: values[1], among: Self.words) {
      throw ThresholdProblem("'\(values[1])' is not understood; did you mean '\(near)'?")
    }
    var seen: Set<String> = []
    while let clause = words.popFirst() {
      guard seen.insert(clause).inserted else { throw ThresholdProblem("has '\(clause)' twice") }
      var argument = words.popFirst().map { [$0] } ?? []
      argument += Self.removeArgument(of: &words)
      try parse(clause, argument.joined(separator: " "))
    }
  }

  /// Removes and returns the words before the next clause.
  private static func removeArgument(of words: inout ArraySlice<String>) -> [String] {
    let argument = words.prefix { !Self.words.contains($0) }
    words = words.dropFirst(argument.count)
    return Array(argument)
  }

  private mutating func parse(_ clause: String, _ argument: String) throws(ThresholdProblem) {
    switch clause {
    case "for": scope = try ThresholdScope(argument)
    case "after":
      guard let time = Quantity.nanoseconds(argument.filter { $0 != " " }) else {
        throw ThresholdProblem("'after \(argument)': expected a time, such as 'after 5s'")
      }
      window.start = time
    default:
      guard argument == "appearance" else {
        throw ThresholdProblem(
          "'without \(argument)' is not understood; did you mean 'without appearance'?")
      }
      window.withoutAppearance = true
    }
  }
}
