import Wording

/// A property of a run that a threshold can check.
enum ThresholdMetric: Hashable, Sendable {
  case hangs, microhangs, longest, hitch, busy, frames, frozen, actions, growth
  /// The number of turns of at least this length, in nanoseconds.
  case over(Int64)
  case frame(Percentile)
  case received, applied, coalesced, rejected, pending
  case latency(Percentile)
  case view(String, ViewMetric)
  case action(String, ActionMetric)
  case effect(String, EffectMetric)

  enum Percentile: String, Sendable, CaseIterable { case p50, p95, p99, max }

  enum ViewMetric: String, Sendable, CaseIterable {
    case evaluations, avoidable, mean, `self`, p95, max, growth
  }

  enum ActionMetric: String, Sendable, CaseIterable { case growth }

  enum EffectMetric: Hashable, Sendable {
    case started, failed, abandoned
    case answered(Percentile), queued(Percentile)
  }

  enum Unit { case count, milliseconds, millisecondsPerSecond, share }

  var unit: Unit {
    switch self {
    case .hangs, .microhangs, .over, .frames, .frozen, .actions, .growth, .received, .applied,
      .coalesced, .rejected, .pending, .view(_, .evaluations), .view(_, .avoidable),
      .effect(_, .started),
      .effect(_, .failed), .effect(_, .abandoned):
      .count
    case .hitch: .millisecondsPerSecond
    case .busy: .share
    case .longest, .frame, .latency, .view, .action, .effect: .milliseconds
    }
  }

  /// Whether the metric is about turns and can be restricted to a window.
  var isOfTurns: Bool {
    if case .over = self { return true }
    return self == .hangs || self == .microhangs || self == .longest
  }

  private static let plain: [(name: String, metric: ThresholdMetric)] =
    [
      ("hangs", .hangs), ("microhangs", .microhangs), ("longest", .longest), ("hitch", .hitch),
      ("busy", .busy), ("frames", .frames), ("frames.frozen", .frozen), ("actions", .actions),
      ("growth", .growth), ("events.received", .received),
      ("events.applied", .applied), ("events.coalesced", .coalesced),
      ("events.rejected", .rejected), ("events.pending", .pending),
    ]
    + Percentile.allCases.flatMap {
      [("latency.\($0.rawValue)", .latency($0)), ("frame.\($0.rawValue)", .frame($0))]
    }

  /// The name in conditions.
  var name: String {
    switch self {
    case .over(let bound):
      return "turns.over(\(FixedPoint.text(bound, decimals: 6, trimmed: true))ms)"
    case .view(let view, let metric): return "view(\(view)).\(metric.rawValue)"
    case .action(let action, let metric): return "action(\(action)).\(metric.rawValue)"
    case .effect(let effect, let metric):
      return "effect(\(effect))." + (Self.ofEffects.first { $0.choice == metric }?.name ?? "")
    default: return Self.plain.first { $0.metric == self }?.name ?? ""
    }
  }

  private static let ofEffects: [(name: String, choice: EffectMetric)] =
    [("started", .started), ("failed", .failed), ("abandoned", .abandoned)]
    + Percentile.allCases.flatMap {
      [("answered.\($0.rawValue)", .answered($0)), ("queued.\($0.rawValue)", .queued($0))]
    }

  /// - Throws: A description of the problem, with a suggestion.
  init(_ name: String) throws(ThresholdProblem) {
    if let (subject, metric) = Self.parts(name, "view") {
      self = .view(
        subject,
        try Self.choice(
          metric, "a view has no metric", ViewMetric.allCases.map { ($0.rawValue, $0) }))
    } else if let (subject, metric) = Self.parts(name, "action") {
      self = .action(
        subject,
        try Self.choice(
          metric, "an action has no metric", ActionMetric.allCases.map { ($0.rawValue, $0) }))
    } else if let (subject, metric) = Self.parts(name, "effect") {
      self = .effect(
        subject,
        try Self.choice(metric, "an effect has no metric", Self.ofEffects))
    } else if name.hasPrefix("turns.over("), name.hasSuffix(")") {
      self = .over(try Self.length(String(name.dropFirst(11).dropLast())))
    } else if let found = Self.plain.first(where: { $0.name == name }) {
      self = found.metric
    } else {
      let candidates =
        Self.plain.map(\.name) + [
          "turns.over(250ms)", "view(HostView).mean", "action(chat.messages).growth",
          "effect(surface).answered.p95",
        ]
      if let (subject, _) = Self.parts(name, "growth") {
        throw ThresholdProblem(
          "there is no metric '\(name)'; write view(\(subject)).growth or action(\(subject)).growth"
        )
      }
      throw ThresholdProblem(
        "there is no metric '\(name)'" + Spelling.hint(for: name, among: candidates))
    }
  }

  /// Parses the length in `turns.over(250ms)`.
  private static func length(_ text: String) throws(ThresholdProblem) -> Int64 {
    guard let length = Quantity.nanoseconds(text) else {
      throw ThresholdProblem("'turns.over(\(text))': expected a time, such as 'turns.over(250ms)'")
    }
    guard length >= TurnRecord.shortestBound else {
      throw ThresholdProblem("'turns.over(\(text))': the length must be at least 1ms")
    }
    return length
  }

  /// Checks the names of views, action kinds, and effects.
  ///
  /// - Throws: A description of the problem, with a suggestion.
  func check(
    views: [String], actions: [String], effects: [String]
  ) throws(ThresholdProblem) {
    switch self {
    case .view(let name, _):
      _ = try Self.choice(name, "there is no view", views.map { ($0, $0) })
    case .action(let name, _):
      _ = try Self.choice(name, "there is no action", actions.map { ($0, $0) })
    case .effect(let name, _):
      _ = try Self.choice(name, "there is no effect", effects.map { ($0, $0) })
    default: break
    }
  }

  /// The view or action kind whose growth the metric checks; `nil` for other metrics, including the
  /// total growth.
  var growthSubject: GrowthSubject? {
    switch self {
    case .view(let name, .growth): GrowthSubject(kind: .view, name: name)
    case .action(let name, .growth): GrowthSubject(kind: .action, name: name)
    default: nil
    }
  }

  var isOfGrowth: Bool { self == .growth || growthSubject != nil }

  /// Returns the parts of `SUBJECT(NAME).METRIC`; `nil` for any other text.
  private static func parts(_ text: String, _ subject: String) -> (name: String, metric: String)? {
    guard text.hasPrefix(subject + "("), let end = text.firstIndex(of: ")") else { return nil }
    let start = text.index(text.startIndex, offsetBy: subject.count + 1)
    let metric = text[text.index(after: end)...]
    return (String(text[start..<end]), metric.hasPrefix(".") ? String(metric.dropFirst()) : "")
  }

  private static func choice<Choice>(
    _ name: String, _ message: String, _ choices: [(name: String, choice: Choice)]
  ) throws(ThresholdProblem) -> Choice {
    if let found = choices.first(where: { $0.name == name }) { return found.choice }
    throw ThresholdProblem(
      "\(message) '\(name)'" + Spelling.hint(for: name, among: choices.map(\.name)))
  }
}

/// An invalid threshold.
public struct ThresholdProblem: Error {
  /// A description of the problem, with a suggestion.
  public let message: String
  init(_ message: String) { self.message = message }
}
