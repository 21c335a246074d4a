package import ControlInterface
import LiveEvents
import Wording

/// Formats the tables of the verb `top`.
package enum TopText {
  package static func heading(_ status: StatusReport) -> StyledLine {
    let figures =
      ", up \(Format.duration(seconds: status.uptimeSeconds)); \(Format.count(status.rooms, "room")); "
      + "\(Format.rate(status.eventsPerSecond)) events/s; longest turn "
      + "\(Format.microseconds(status.longestTurnMicroseconds)); "
      + Format.bytes(status.memoryBytes)
    return StyledLine([
      ("livehostd \(TerminalText.sanitized(status.version)), ", .plain),
      (status.health.rawValue, TextStyle(status.health)), (figures, .plain),
    ])
  }

  package static func rooms(_ report: TopReport, _ order: TopOrder) -> TextTable {
    let columns: [(RoomColumn, String, TextTable.Alignment)] = [
      (.room, "ROOM", .left), (.phase, "PHASE", .left), (.viewers, "VIEWERS", .right),
      (.rate, "EVENTS/S", .right), (.received, "RECEIVED", .right),
      (.rejected, "REJECTED", .right), (.pending, "PENDING", .right),
    ]
    var table = TextTable(
      columns.map { (heading($0.1, isSorted: $0.0 == order.rooms, order), $0.2) })
    for room in report.rooms {
      table.append([
        TerminalText.sanitized(room.room), room.phase.rawValue, Format.count(room.viewers),
        room.eventsPerSecond.map(Format.rate) ?? "-", Format.count(room.counters.received),
        Format.count(room.counters.rejected), Format.count(room.counters.pending),
      ])
    }
    return table
  }

  package static func views(_ report: TopReport, _ order: TopOrder) -> TextTable {
    let columns: [(ViewColumn, String, TextTable.Alignment)] = [
      (.room, "ROOM", .left), (.view, "VIEW", .left), (.rate, "PER S", .right),
      (.evaluations, "EVALUATIONS", .right), (.avoidable, "AVOIDABLE", .right),
      (.load, "LOAD", .right), (.mean, "MEAN", .right), (.max, "MAX", .right),
    ]
    var table = TextTable(
      columns.map { (heading($0.1, isSorted: $0.0 == order.views, order), $0.2) })
    for view in report.views {
      table.append([
        TerminalText.sanitized(view.room), TerminalText.sanitized(view.view),
        view.evaluationsPerSecond.map(Format.rate) ?? "-", Format.count(view.evaluations),
        Format.count(view.avoidable), view.loadPercent.map { "\(Format.rate($0))%" } ?? "-",
        Format.microseconds(Int(clamping: view.meanMicroseconds)),
        Format.microseconds(view.maximumMicroseconds),
      ])
    }
    return table
  }

  package static func lines(_ report: TopReport, _ order: TopOrder, columns: Int) -> [String] {
    var lines = [TerminalText.fitted(heading(report.status).text, width: columns), ""]
    lines +=
      report.rooms.isEmpty ? ["no room is open"] : rooms(report, order).lines(columns: columns)
    if !report.views.isEmpty { lines += [""] + views(report, order).lines(columns: columns) }
    if report.roomsWithoutViews > 0 {
      let rooms = Format.count(report.roomsWithoutViews, "least busy room")
      lines.append("(views of the \(rooms) are not shown)")
    }
    return lines
  }

  private static func heading(_ name: String, isSorted: Bool, _ order: TopOrder) -> String {
    isSorted ? name + (order.isReversed ? "^" : "*") : name
  }
}

extension TextStyle {
  /// The style of the word for the daemon's health.
  package init(_ health: Health) {
    switch health {
    case .ok: self = .good
    case .degraded: self = .warning
    case .failing: self = .bad
    }
  }
}
