import ControlInterface
import HostScreen
import ViewGraph

extension Explanation {
  /// Explains why the views with the name `view` were evaluated; fails if none was.
  init?(of view: String, on screen: HostScreen) {
    screen.evaluateViews()
    guard let statistics = screen.views.statistics[view] else { return nil }
    let causes = statistics.causes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    self.init(
      view: view, evaluations: statistics.evaluations, avoidable: statistics.avoidable,
      meanMicroseconds: microseconds(statistics.total) / Double(statistics.evaluations),
      maximumMicroseconds: Int(statistics.maximum / 1000), reads: screen.views.reads(of: view),
      causes: causes.map { CauseReport($0.key, count: $0.value) },
      recent: screen.views.log.records(of: view).map(EvaluationReport.init))
  }
}

private func microseconds(_ nanoseconds: UInt64) -> Double { Double(nanoseconds) / 1000 }

extension EvaluationReport {
  fileprivate init(_ record: EvaluationRecord) {
    self.init(
      frame: Int(record.frame), durationMicroseconds: microseconds(record.inclusive),
      selfMicroseconds: microseconds(record.exclusive), avoidable: record.isAvoidable,
      causes: record.reasons.map { CauseReport($0, count: 1) })
  }
}

extension CauseReport {
  fileprivate init(_ reason: EvaluationReason, count: Int) {
    self.init(
      kind: CauseKind(reason.kind), action: reason.action, field: reason.field,
      count: count)
  }
}

extension CauseKind {
  fileprivate init(_ kind: EvaluationReason.Kind) {
    switch kind {
    case .firstAppearance: self = .firstAppearance
    case .ownRead: self = .ownRead
    case .presence: self = .presence
    case .changedInput: self = .changedInput
    }
  }
}
