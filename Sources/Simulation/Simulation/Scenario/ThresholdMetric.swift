import HostFeature
import Suggestions

/// A property of a run that a threshold can be set on.
package enum ThresholdMetric: Hashable, Sendable {
  case hangs, microhangs, longest, hitch, frames, actions
  case received, applied, coalesced, rejected, pending
  case latency(Percentile)
  case view(String, ViewMetric)

  package enum Percentile: String, Sendable, CaseIterable { case p50, p95, p99, max }

  package enum ViewMetric: String, Sendable, CaseIterable {
    case evaluations, avoidable, mean, `self`, p95, max
  }

  /// The unit of its values.
  enum Unit { case count, milliseconds, millisecondsPerSecond }

  var unit: Unit {
    switch self {
    case .hangs, .microhangs, .frames, .actions, .received, .applied, .coalesced, .rejected,
      .pending, .view(_, .evaluations), .view(_, .avoidable):
      .count
    case .hitch: .millisecondsPerSecond
    case .longest, .latency, .view: .milliseconds
    }
  }

  private static let plain: [(name: String, metric: ThresholdMetric)] =
    [
      ("hangs", .hangs), ("microhangs", .microhangs), ("longest", .longest), ("hitch", .hitch),
      ("frames", .frames), ("actions", .actions), ("events.received", .received),
      ("events.applied", .applied), ("events.coalesced", .coalesced),
      ("events.rejected", .rejected), ("events.pending", .pending),
    ] + Percentile.allCases.map { ("latency.\($0.rawValue)", .latency($0)) }

  /// - Throws: What is wrong with the name, with a suggestion.
  init(_ name: String) throws(ThresholdProblem) {
    if let found = Self.plain.first(where: { $0.name == name }) {
      self = found.metric
      return
    }
    guard name.hasPrefix("view("), let end = name.firstIndex(of: ")") else {
      let candidates = Self.plain.map(\.name) + ["view(HostView).mean"]
      throw ThresholdProblem(
        "there is no metric '\(name)'" + Spelling.hint(for: name, among: candidates))
    }
    let view = String(name[name.index(name.startIndex, offsetBy: 5)..<end])
    guard HostView.names.contains(view) else {
      throw ThresholdProblem(
        "there is no view '\(view)'" + Spelling.hint(for: view, among: HostView.names))
    }
    let rest = name[name.index(after: end)...]
    guard rest.hasPrefix("."), let metric = ViewMetric(rawValue: String(rest.dropFirst())) else {
      throw ThresholdProblem(
        "a view has no metric '\(rest.drop { $0 == "." })'"
          + Spelling.hint(
            for: String(rest.drop { $0 == "." }), among: ViewMetric.allCases.map(\.rawValue)))
    }
    self = .view(view, metric)
  }
}

/// What is wrong with a threshold.
struct ThresholdProblem: Error {
  let message: String
  init(_ message: String) { self.message = message }
}
