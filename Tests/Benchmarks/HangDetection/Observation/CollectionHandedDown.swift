import Composable
import HangSimulation
import ViewGraph

/// A list observes its whole collection of rows, so a change of one row evaluates all rows.
enum CollectionHandedDown {
  @Reducer struct Stock {
    @ObservableState struct State: Equatable, Sendable {
      @ObservationStateIgnored var rows: KeyedCollection<Int, Row.State> = KeyedCollection(
        (0..<100).map { Row.State(id: $0) })
    }
    enum Action: Sendable { case rows(ElementAction<Int, Row.Action>) }
    var body: some ReducerOf<Self> {
      Reduce { _, _ in .none }.forEach(\.rows, action: \.rows) { Row() }
    }
  }

  @Reducer struct Row {
    @ObservableState struct State: Equatable, Sendable, Identifiable {
      var id: Int
      var stock: Int = 500

      init(id: Int) { self.id = id }
    }
    enum Action: Sendable { case sold }
    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      state.stock -= 1
      return .none
    }
  }

  struct StockView: View {
    static let name = "StockView"
    func body(_ state: Observed<Stock.State>, _ context: ViewContext) -> ViewNode {
      .column(context.each(RowView(), state, \.rows))
    }
  }

  struct RowView: View {
    static let name = "RowView"
    func body(_ state: Observed<Row.State>, _ context: ViewContext) -> ViewNode {
      .text("\(state.id): \(state.stock) left")
    }
  }

  static let fault = PlantedFault(
    "collection-handed-down", .overObservation, "RowView", field: "rows",
    screen: { version in
      SimulatedScreen<Int>(
        StockView(), state: { Stock.State() }, ignoring: version == .faulty ? [] : nil,
        reducer: { _ in Stock() }, on: { [.rows(ElementAction(id: $0, action: .sold))] })
    },
    events: [.poisson(every: .milliseconds(200)) { $0.integer(in: 0...99) }])
}
