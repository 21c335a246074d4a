import Composable
import HangSimulation
import ViewGraph

/// A view filters the whole catalogue in its body. The view also shows the number of visitors, and
/// each change of this number repeats the filter.
enum FilterInBody {
  @Reducer struct Shop {
    @ObservableState struct State: Equatable, Sendable {
      var visitors: Int = 0
      @ObservationStateIgnored var query: String = "blue sofa 1"
      var articles: [Article] = []
      var matches: [Article] = []
    }
    enum Action: Sendable {
      case loaded([Article])
      case visited(Int)
    }
    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      switch action {
      case .loaded(let page):
        state.articles += page
        state.matches += page.filter { $0.name.hasPrefix(state.query) }
      case .visited(let visitors): state.visitors = visitors
      }
      return .none
    }
  }

  struct ShopView: View {
    static let name = "ShopView"
    let version: PlantedFault.Version
    func body(_ state: Observed<Shop.State>, _ context: ViewContext) -> ViewNode {
      let query = state.query
      let matches =
        version == .faulty
        ? state.articles.filter { $0.name.hasPrefix(query) } : state.matches
      return .column([
        .badge("\(state.visitors) people", .normal),
        .row(matches.prefix(10).map { .text($0.name) }),
      ])
    }
  }

  enum Event: Sendable {
    case page(Int)
    case visited(Int)
  }

  static let fault = PlantedFault(
    "filter-in-body", .growth, "ShopView", field: "articles",
    screen: { version in
      SimulatedScreen<Event>(
        ShopView(version: version), state: { Shop.State() }, reducer: { _ in Shop() },
        on: { (event: Event) -> [Shop.Action] in
          switch event {
          case .page(let number): [.loaded(Article.page(number, of: 400))]
          case .visited(let visitors): [.visited(visitors)]
          }
        })
    },
    events: [
      .recorded((0..<50).map { (.milliseconds(240 * $0), .page($0)) }),
      .poisson(every: .milliseconds(15)) { .visited($0.integer(in: 100...900)) },
    ])
}
