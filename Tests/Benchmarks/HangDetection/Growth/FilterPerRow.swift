import Composable
import HangSimulation
import ViewGraph

/// A view searches the orders of all customers once for each customer.
enum FilterPerRow {
  private static let names = (0..<80).map { "customer \($0)" }

  @Reducer struct Sales {
    @ObservableState struct State: Equatable, Sendable {
      var orders: [String] = []
      @ObservationStateIgnored var counts: [Int] = Array(repeating: 0, count: names.count)
    }
    enum Action: Sendable { case ordered(customer: Int) }
    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      guard case .ordered(let customer) = action, state.orders.count < 1_000 else { return .none }
      state.orders.append(names[customer])
      state.counts[customer] += 1
      return .none
    }
  }

  struct SalesView: View {
    static let name = "SalesView"
    let version: PlantedFault.Version
    func body(_ state: Observed<Sales.State>, _ context: ViewContext) -> ViewNode {
      let (orders, counts) = (state.orders, state.counts)
      return .list(
        counts.indices.map { customer in
          let count =
            version == .faulty
            ? orders.filter { $0 == names[customer] }.count : counts[customer]
          return ViewNode.ListRow(id: names[customer], .text("\(count) orders"))
        })
    }
  }

  static let fault = PlantedFault(
    "filter-per-row", .growth, "SalesView", field: "orders",
    screen: { version in
      SimulatedScreen<Int>(
        SalesView(version: version), state: { Sales.State() }, reducer: { _ in Sales() },
        on: { [.ordered(customer: $0)] })
    },
    events: [.poisson(every: .milliseconds(12)) { $0.integer(in: 0...79) }])
}
