import Composable
import HangSimulation
import ViewGraph

/// Each row of a list has a copy of the selected identifier, so a selection changes all rows
/// although only two rows look different.
enum SelectionInEveryRow {
  @Reducer struct Inbox {
    @ObservableState struct State: Equatable, Sendable {
      var selected: Int = 0
      @ObservationStateIgnored var rows: KeyedCollection<Int, Row.State> = KeyedCollection(
        (0..<100).map { Row.State(id: $0) })
    }
    enum Action: Sendable {
      case chosen(Int)
      case rows(ElementAction<Int, Row.Action>)
    }
    let version: PlantedFault.Version

    var body: some ReducerOf<Self> {
      Reduce { state, action in
        guard case .chosen(let id) = action else { return .none }
        let changed = version == .faulty ? state.rows.ids : [state.selected, id]
        for row in changed { state.rows.modify(id: row) { $0.selected = id } }
        state.selected = id
        return .none
      }.forEach(\.rows, action: \.rows) { Row() }
    }
  }

  @Reducer struct Row {
    @ObservableState struct State: Equatable, Sendable, Identifiable {
      var id: Int
      var selected: Int = 0

      init(id: Int) { self.id = id }
    }
    enum Action: Sendable { case opened }
    func reduce(into state: inout State, action: Action) -> Effect<Action> { .none }
  }

  struct InboxView: View {
    static let name = "InboxView"
    func body(_ state: Observed<Inbox.State>, _ context: ViewContext) -> ViewNode {
      .column(context.each(RowView(), state, \.rows))
    }
  }

  struct RowView: View {
    static let name = "RowView"
    func body(_ state: Observed<Row.State>, _ context: ViewContext) -> ViewNode {
      .text("message \(state.id)", state.selected == state.id ? .strong : .normal)
    }
  }

  static let fault = PlantedFault(
    "selection-in-every-row", .overObservation, "RowView", field: "selected",
    screen: { version in
      SimulatedScreen<Int>(
        InboxView(), state: { Inbox.State() }, reducer: { _ in Inbox(version: version) },
        on: { [.chosen($0)] })
    },
    events: [.poisson(every: .milliseconds(300)) { $0.integer(in: 0...99) }])
}
