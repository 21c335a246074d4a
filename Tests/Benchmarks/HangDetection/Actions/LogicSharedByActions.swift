import Composable
import HangSimulation
import ViewGraph

/// A reducer sends itself an action for each step of a calculation, instead of calling functions.
enum LogicSharedByActions {
  @Reducer struct Cart {
    @ObservableState struct State: Equatable, Sendable {
      @ObservationStateIgnored var amount: Int = 0
      @ObservationStateIgnored var net: Int = 0
      @ObservationStateIgnored var tax: Int = 0
      @ObservationStateIgnored var shipping: Int = 0
      var total: Int = 0
    }
    enum Action: Sendable {
      case amountChanged(Int)
      case validated
      case netCalculated
      case taxCalculated
      case shippingCalculated
      case totalCalculated
    }
    let version: PlantedFault.Version

    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      switch action {
      case .amountChanged(let amount):
        state.amount = amount
        guard version == .sound else { return .send(.validated) }
        for step in [validate, addNet, addTax, addShipping, addUp] { step(&state) }
        return .none
      case .validated:
        validate(&state)
        return .send(.netCalculated)
      case .netCalculated:
        addNet(&state)
        return .send(.taxCalculated)
      case .taxCalculated:
        addTax(&state)
        return .send(.shippingCalculated)
      case .shippingCalculated:
        addShipping(&state)
        return .send(.totalCalculated)
      case .totalCalculated:
        addUp(&state)
        return .none
      }
    }

    private func validate(_ state: inout State) { state.amount = max(0, state.amount) }
    private func addNet(_ state: inout State) { state.net = state.amount * 250 }
    private func addTax(_ state: inout State) { state.tax = state.net * 19 / 100 }
    private func addShipping(_ state: inout State) { state.shipping = state.net > 5_000 ? 0 : 490 }
    private func addUp(_ state: inout State) {
      state.total = state.net + state.tax + state.shipping
    }
  }

  struct CartView: View {
    static let name = "CartView"
    func body(_ state: Observed<Cart.State>, _ context: ViewContext) -> ViewNode {
      .text("\(state.total)", .strong)
    }
  }

  static let fault = PlantedFault(
    "logic-shared-by-actions", .chattyActions, "amountChanged",
    screen: { version in
      SimulatedScreen<Int>(
        CartView(), state: { Cart.State() }, reducer: { _ in Cart(version: version) },
        on: { [.amountChanged($0)] })
    },
    events: [.every(.milliseconds(25)) { $0.integer(in: 0...1_000) }])
}
