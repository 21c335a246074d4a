import LiveEvents
package import ViewGraph

/// How many wait and were let in, and those who have waited longest.
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
      .text("\(people.count) waiting", .strong),
      .text(admitted(state.admitted, of: state.capacity)),
    ]
    if let seconds = state.secondsLeft { figures.append(.text("begins in \(seconds) s", .strong)) }
    return .panel(
      title: "Waiting room",
      .column([
        .row(figures),
        .list(people.prefix(Self.rows).map(\.row)),
      ]))
  }

  private func admitted(_ count: Int, of capacity: Int?) -> String {
    capacity.map { "\(count) of \($0) admitted" } ?? "\(count) admitted"
  }
}

extension Person {
  fileprivate var row: ViewNode.ListRow { .init(id: String(id), .text(String(name))) }
}
