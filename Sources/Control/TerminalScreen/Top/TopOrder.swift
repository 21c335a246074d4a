import ControlInterface
import LiveEvents

/// The column by which `top` sorts rooms.
package enum RoomColumn: String, CaseIterable, Sendable {
  case room, phase, viewers, rate, received, rejected, pending
}

/// The column by which `top` sorts views.
package enum ViewColumn: String, CaseIterable, Sendable {
  case room, view, rate, evaluations, avoidable, load, mean, max
}

/// The order of the tables: names ascending, numbers descending.
package struct TopOrder: Equatable, Sendable {
  package var rooms: RoomColumn
  package var views: ViewColumn
  package var isReversed: Bool

  package init(
    rooms: RoomColumn = .rate, views: ViewColumn = .load, isReversed: Bool = false
  ) {
    self.rooms = rooms
    self.views = views
    self.isReversed = isReversed
  }

  package func sorted(_ report: TopReport) -> TopReport {
    var report = report
    report.rooms.sort { ordered($0, $1, by: roomKey) }
    report.views.sort { ordered($0, $1, by: viewKey) }
    return report
  }

  /// The value by which a row is sorted. Rows with equal values are sorted by name, so that their
  /// order does not change between updates.
  private enum Key { case name(String), number(Double) }

  private func ordered<Row>(_ one: Row, _ other: Row, by key: (Row) -> (Key, String)) -> Bool {
    let ((first, firstName), (second, secondName)) = (key(one), key(other))
    switch (first, second) {
    case (.number(let left), .number(let right)) where left != right:
      return (left > right) != isReversed
    case (.name(let left), .name(let right)) where left != right:
      return (left < right) != isReversed
    default: return firstName < secondName
    }
  }

  private func roomKey(_ room: TopReport.Room) -> (Key, String) {
    let key: Key =
      switch rooms {
      case .room: .name(room.room)
      case .phase: .name(room.phase.rawValue)
      case .viewers: .number(Double(room.viewers))
      case .rate: .number(room.eventsPerSecond ?? Double(room.counters.received) / 1e9)
      case .received: .number(Double(room.counters.received))
      case .rejected: .number(Double(room.counters.rejected))
      case .pending: .number(Double(room.counters.pending))
      }
    return (key, room.room)
  }

  private func viewKey(_ view: TopReport.View) -> (Key, String) {
    let key: Key =
      switch views {
      case .room: .name(view.room)
      case .view: .name(view.view)
      case .rate: .number(view.evaluationsPerSecond ?? Double(view.evaluations) / 1e9)
      case .evaluations: .number(Double(view.evaluations))
      case .avoidable: .number(Double(view.avoidable))
      case .load:
        .number(view.loadPercent ?? Double(view.evaluations) * view.meanMicroseconds / 1e12)
      case .mean: .number(view.meanMicroseconds)
      case .max: .number(Double(view.maximumMicroseconds))
      }
    return (key, "\(view.room) \(view.view)")
  }
}
