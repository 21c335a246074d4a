import LiveEvents
package import ViewGraph
import Wording

/// Shows the numbers of waiting and admitted people, the time until the stream begins, and the
/// people who have waited longest.
package struct WaitingRoomView: View {
  package static let name = "WaitingRoomView"

  /// The maximum number of people on the screen.
  package static let rows = 8

  package init() {}

  package func body(
    _ state: Observed<WaitingRoomFeature.State>, _ context: ViewContext
  ) -> ViewNode {
    let people = state.people
    var figures: [ViewNode] = [
      .text((state.leftOut == nil ? "" : "at least ") + Phrase.waiting(people.count), .strong),
      .text(Phrase.admitted(state.admitted, of: state.capacity)),
    ]
    if let pace = state.pace { figures.append(.text(Phrase.pace(pace))) }
    if let seconds = state.secondsLeft {
      figures.append(.text(Phrase.begins(inSeconds: seconds), .warning))
    }
    var lines: [ViewNode] = [
      .row(figures),
      .list(people.prefix(Self.rows).map(\.row))
        .acting(ViewAct("let in", "Admit", input: .row("user"))),
    ]
    if !people.isEmpty {
      lines[0] = lines[0].acting(ViewAct("let all in", "Admit", ["all": .flag(true)]))
    }
    let more = people.count - Self.rows
    if more > 0 { lines.append(.text("and \(Format.count(more)) more", .faint)) }
    return .panel(Self.panel(priority: 2, rows: Self.rows + 2), .column(lines))
  }

  /// Returns the summary of a waiting room that was removed.
  package static func over(_ admitted: Int) -> ViewNode {
    .panel(
      panel(priority: 9, rows: 1), .text("over; \(Phrase.admitted(admitted))", .faint))
  }

  private static func panel(priority: Int, rows: Int) -> ViewNode.Panel {
    .init("waitingRoom", title: "Waiting room", priority: priority, usefulRows: rows)
  }
}

extension Person {
  /// A row with the identifier, by which the host can admit the person.
  fileprivate var row: ViewNode.ListRow {
    .init(
      id: String(id), .row([.text(String(name), .person), .text("(\(String(id)))", .faint)]))
  }
}
