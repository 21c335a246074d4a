import Composable
import HangSimulation
import ViewGraph

/// A clock is part of a view with a long form, so each tick evaluates the whole form.
enum ClockInLargeView {
  @Reducer struct Order {
    @ObservableState struct State: Equatable, Sendable {
      @ObservationStateIgnored var clock: Countdown.State = Countdown.State()
      var tenthsLeft: Int = 6_000
      var articles: [Article] = Article.page(0, of: 80)
    }
    enum Action: Sendable { case clock(Countdown.Action) }
    var body: some ReducerOf<Self> {
      Scope(state: \.clock, action: \.clock) { Countdown() }
      Reduce { state, _ in
        state.tenthsLeft -= 1
        return .none
      }
    }
  }

  @Reducer struct Countdown {
    @ObservableState struct State: Equatable, Sendable { var tenthsLeft: Int = 6_000 }
    enum Action: Sendable { case ticked }
    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      state.tenthsLeft -= 1
      return .none
    }
  }

  struct OrderView: View {
    static let name = "OrderView"
    let version: PlantedFault.Version
    func body(_ state: Observed<Order.State>, _ context: ViewContext) -> ViewNode {
      .column([
        version == .faulty
          ? .text("\(state.tenthsLeft / 10).\(state.tenthsLeft % 10) s left")
          : context.child(CountdownView(), state, \.clock),
        .list(state.articles.map { ViewNode.ListRow(id: "\($0.id)", .text($0.name)) }),
      ])
    }
  }

  struct CountdownView: View {
    static let name = "CountdownView"
    func body(_ state: Observed<Countdown.State>, _ context: ViewContext) -> ViewNode {
      .text("\(state.tenthsLeft / 10).\(state.tenthsLeft % 10) s left")
    }
  }

  static let fault = PlantedFault(
    "clock-in-large-view", .coarseView, "OrderView", field: "tenthsLeft",
    screen: { version in
      SimulatedScreen<Void>(
        OrderView(version: version), state: { Order.State() }, reducer: { _ in Order() },
        on: { _ in [.clock(.ticked)] })
    },
    events: [.every(.milliseconds(100)) { _ in }])
}
