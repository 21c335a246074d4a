import Composable
import HangSimulation
import ViewGraph

/// Each answer of the server becomes rows with new keys, although nearly all rows are unchanged.
enum CollectionBuiltAnew {
  @Reducer struct Prices {
    @ObservableState struct State: Equatable, Sendable {
      @ObservationStateIgnored var rows: KeyedCollection<Int, Row.State> = KeyedCollection()
    }
    enum Action: Sendable {
      case polled([Article])
      case rows(ElementAction<Int, Row.Action>)
    }
    let version: PlantedFault.Version
    let identifiers: Identifiers

    var body: some ReducerOf<Self> {
      Reduce { state, action in
        guard case .polled(let articles) = action else { return .none }
        switch version {
        case .faulty:
          state.rows = KeyedCollection(
            articles.map { Row.State(id: Int(identifiers.next()), article: $0) })
        case .sound:
          for article in articles {
            let row = Row.State(id: article.id, article: article)
            if !state.rows.contains(id: article.id) {
              state.rows.append(row)
            } else {
              state.rows.update(row, id: article.id)
            }
          }
        }
        return .none
      }.forEach(\.rows, action: \.rows) { Row() }
    }
  }

  @Reducer struct Row {
    @ObservableState struct State: Equatable, Sendable, Identifiable {
      var id: Int
      var article: Article

      init(id: Int, article: Article) {
        self.id = id
        self.article = article
      }
    }
    enum Action: Sendable { case tapped }
    func reduce(into state: inout State, action: Action) -> Effect<Action> { .none }
  }

  struct PricesView: View {
    static let name = "PricesView"
    func body(_ state: Observed<Prices.State>, _ context: ViewContext) -> ViewNode {
      .column(context.each(RowView(), state, \.rows))
    }
  }

  struct RowView: View {
    static let name = "RowView"
    func body(_ state: Observed<Row.State>, _ context: ViewContext) -> ViewNode {
      .text("\(state.article.name): \(state.article.price)")
    }
  }

  static let fault = PlantedFault(
    "collection-built-anew", .identityChurn, "RowView",
    screen: { version in
      SimulatedScreen<Int>(
        PricesView(), state: { Prices.State() },
        reducer: { (world: SimulatedWorld) -> Prices in
          Prices(version: version, identifiers: world.dependencies.identifiers)
        },
        on: { (changed: Int) -> [Prices.Action] in
          var articles = Article.page(0, of: 40)
          articles[changed].price += 1
          return [.polled(articles)]
        })
    },
    events: [.every(.milliseconds(500)) { $0.integer(in: 0...39) }])
}
