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
    return .panel(
      title: "Waiting room",
      .column([
        .row([
          .text("\(people.count) waiting", .strong),
          .text("\(state.admitted) admitted"),
        ]),
        .list(people.prefix(Self.rows).map(\.row)),
      ]))
  }
}

extension Person {
  fileprivate var row: ViewNode.ListRow { .init(id: String(id), .text(String(name))) }
}
