import Suggestions
import Wording

/// A condition that every run has to meet, such as `view(HostView).mean < 16ms`.
///
/// Metrics are
///
/// - counts of turns: `hangs`, `microhangs` (without hangs), and `turns.over(250ms)`, all turns of that length and longer,
/// - `longest`, `hitch` (in `ms/s`), `busy` (in `%`), `frame.p50` (`p95`, `p99`, `max`), `frames`, `frames.frozen`, `actions`,
/// - `events.received` (`applied`, `coalesced`, `rejected`, `pending`), `latency.p50` (`p95`, `p99`, `max`),
/// - of a view `evaluations`, `avoidable`, `mean`, `self`, `p95` and `max`,
/// - measured on the machine that simulates, and slightly different in each run: `growth`, the number of views and actions
///   whose work grows with the state, and `view(ChatView).growth` or `action(chat.messages).growth`, what each element
///   adds to an evaluation or a reduction on the device,
/// - of an effect such as `effect(payment).answered.p95` also `started`, `failed`, `abandoned` and `queued`.
///
/// The value may be relative: `microhangs <= base * 1.1`, `longest < base + 20ms`. The base is the first variant on the same
/// device; where two reports are compared, the first report.
///
/// These clauses may follow the value, in any order:
///
/// - `after 5s`: only turns that begin then or later count,
/// - `without appearance`: the one-off costs of views that appear are subtracted from turns; both apply to counts of turns
///   and to `longest`,
/// - `for NAME` or `for DEVICE, VARIANT`: the condition applies only to the runs of that variant, of that device, or of both.
///
/// In a sweep all seeds have to meet it. `p95(microhangs) < 12` asks for the percentile of the seeds instead: 95 % of
/// them have no more. That takes 20 seeds.
///
/// A condition without anything to check is not met: `view(PollView).evaluations == 0` fails if the view never appeared. It is
/// skipped if its runs were not chosen, and if it is about a percentile of the seeds and there is one seed.
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

  /// As written in the scenario.
  public let text: String
  /// Of the seeds; nil if all have to meet it.
  let percentile: Int?
  let metric: ThresholdMetric
  let window: TurnWindow
  let comparison: Comparison
  let bound: ThresholdBound
  /// The runs that it applies to; `nil` for all.
  package let scope: ThresholdScope?

  /// Reads a condition. Names of views, actions and effects are checked when it is applied to runs.
  ///
  /// - Throws: what is wrong with it, with a suggestion.
  public init(_ text: String) throws(ThresholdProblem) {
    self.text = text
    // The longer signs come first, so that `<=` is not read as `<`.
    guard
      let (sign, range) = Comparison.allCases.lazy.compactMap({ sign in
        text.firstRange(of: sign.rawValue).map { (sign, $0) }
      }).first
    else {
      throw ThresholdProblem(
        "expected a metric, a comparison (< <= > >= == !=) and a value, such as 'hangs == 0'")
    }
    let clauses = try ThresholdClauses(String(text[range.upperBound...]))
    (percentile, metric) = try Self.metric(
      String(text[..<range.lowerBound].filter { !$0.isWhitespace }))
    comparison = sign
    bound = try ThresholdBound(clauses.value, metric)
    (scope, window) = (clauses.scope, clauses.window)
    guard window == TurnWindow() || metric.isOfTurns else {
      throw ThresholdProblem(
        "'after' and 'without appearance' apply to hangs, microhangs, turns.over and longest only")
    }
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
}

/// The value of a condition, and the clauses after it.
private struct ThresholdClauses {
  private static let words = ["after", "for", "without"]
  /// Without spaces.
  var value = ""
  var scope: ThresholdScope?
  var window = TurnWindow()

  init(_ text: String) throws(ThresholdProblem) {
    var words = text.split(whereSeparator: \.isWhitespace).map(String.init)[...]
    let values = Self.takeArgument(of: &words)
    value = values.joined()
    if values.count > 1, let near = Spelling.nearest(to: values[1], among: Self.words) {
      throw ThresholdProblem("'\(values[1])' is not understood; did you mean '\(near)'?")
    }
    var seen: Set<String> = []
    while let clause = words.popFirst() {
      guard seen.insert(clause).inserted else { throw ThresholdProblem("says '\(clause)' twice") }
      var argument = words.popFirst().map { [$0] } ?? []
      argument += Self.takeArgument(of: &words)
      try take(clause, argument.joined(separator: " "))
    }
  }

  /// Removes the words before the next clause.
  private static func takeArgument(of words: inout ArraySlice<String>) -> [String] {
    let argument = words.prefix { !Self.words.contains($0) }
    words = words.dropFirst(argument.count)
    return Array(argument)
  }

  private mutating func take(_ clause: String, _ argument: String) throws(ThresholdProblem) {
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
