package import ControlInterface
import LiveEvents
package import Logging
import Rooms
import Systemd

extension HangReport {
  /// Creates the report of a turn that ended at `ended`, in milliseconds since 1970.
  package init(_ finding: HangDetector.Finding, lane: Int, ended: Int) {
    let duration = finding.turn.nanoseconds
    self.init(
      number: 0, timestamp: ended - Int(duration / 1_000_000),
      kind: duration < 500_000_000 ? .microhang : .hang, reason: HangReason(finding.reason),
      durationMicroseconds: Int(duration / 1000), lane: lane,
      room: finding.holder?.room?.description,
      processorMicroseconds: finding.times.map { Int($0.ran / 1000) },
      waitedMicroseconds: finding.times.map { Int($0.waited / 1000) })
    switch finding.holder?.work {
    case .action(let kind) where !kind.isEmpty: action = kind
    case .view(let name): view = name
    case .effect(let name): effect = name
    case .action, .report, nil: break
    }
  }

  package func log(to logger: Logger) {
    let kind: JournalMessageID = self.kind == .hang ? .hang : .microhang
    let metadata = Logger.Metadata(
      uniqueKeysWithValues: journalFields.map { ($0.key, .string($0.value)) })
    logger.log(kind, "\(line)", metadata: metadata)
  }

  package var line: String {
    let location = room.map { "room \($0)" } ?? "lane \(lane)"
    let holder =
      action.map { "action \($0)" } ?? view.map { "view \($0)" } ?? effect.map { "effect \($0)" }
    let milliseconds = durationMicroseconds / 1000
    switch reason {
    case .descheduled:
      return
        "\(location): \(kind.rawValue) of \(milliseconds) ms: the lane did not get a processor"
        + (holder.map { " during \($0)" } ?? "")
    case .busy, .blocked:
      let how = reason == .busy ? "held" : "blocked"
      return "\(location): \(kind.rawValue) of \(milliseconds) ms, \(how) by "
        + (holder ?? "an unknown activity")
    }
  }
}

extension HangReason {
  fileprivate init(_ reason: HangDetector.Reason) {
    switch reason {
    case .busy: self = .busy
    case .blocked: self = .blocked
    case .descheduled: self = .descheduled
    }
  }
}
