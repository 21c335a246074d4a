import LiveEvents
package import ViewGraph
import Wording

/// How many wait and were let in, the time until the stream begins, and those who have waited
/// longest.
package struct WaitingRoomView: View {
  package static let name = "WaitingRoomView"

  /// How many people are on the screen.
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

  /// What is left of a waiting room that has gone.
  package static func over(_ admitted: Int) -> ViewNode {
    .panel(
      panel(priority: 9, rows: 1), .text("over; \(Phrase.admitted(admitted))", .faint))
  }

  private static func panel(priority: Int, rows: Int) -> ViewNode.Panel {
    .init("waitingRoom", title: "Waiting room", priority: priority, usefulRows: rows)
  }
}

extension Person {
  /// The identifier is what the host names to let somebody in.
  fileprivate var row: ViewNode.ListRow {
    .init(
      id: String(id), .row([.text(String(name), .person), .text("(\(String(id)))", .faint)]))
  }
}
