import Composable
import Foundation
import HangSimulation
import ViewGraph

/// Rows get a new identifier in each evaluation, so no row is ever recognised.
enum FreshRowIdentifiers {
  @Reducer struct Basket {
    @ObservableState struct State: Equatable, Sendable {
      var articles: [Article] = Article.page(0, of: 60)
    }
    enum Action: Sendable { case priceChanged(Int) }
    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      if case .priceChanged(let index) = action { state.articles[index].price += 1 }
      return .none
    }
  }

  struct BasketView: View {
    static let name = "BasketView"
    let version: PlantedFault.Version
    func body(_ state: Observed<Basket.State>, _ context: ViewContext) -> ViewNode {
      .list(
        state.articles.map { article in
          let id = version == .faulty ? UUID().uuidString : "\(article.id)"
          return ViewNode.ListRow(id: id, .text("\(article.name): \(article.price)"))
        })
    }
  }

  static let fault = PlantedFault(
    "fresh-row-identifiers", .identityChurn, "BasketView",
    screen: { version in
      SimulatedScreen<Int>(
        BasketView(version: version), state: { Basket.State() }, reducer: { _ in Basket() },
        on: { [.priceChanged($0)] })
    },
    events: [.poisson(every: .milliseconds(150)) { $0.integer(in: 0...59) }])
}
