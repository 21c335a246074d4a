import Composable
import HangSimulation
import ViewGraph

/// For each scan, a reducer builds a dictionary of all articles to find one article.
enum IndexPerAction {
  @Reducer struct Till {
    @ObservableState struct State: Equatable, Sendable {
      @ObservationStateIgnored var articles: [Article] = []
      @ObservationStateIgnored var index: [Int: Int] = [:]
      var last: String = ""
    }
    enum Action: Sendable {
      case loaded([Article])
      case scanned(Int)
    }
    let version: PlantedFault.Version

    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      switch action {
      case .loaded(let page):
        if version == .sound {
          for (offset, article) in page.enumerated() {
            state.index[article.id] = state.articles.count + offset
          }
        }
        state.articles += page
      case .scanned(let id):
        switch version {
        case .faulty:
          let articles = Dictionary(grouping: state.articles, by: \.id)
          state.last = articles[id]?.first?.name ?? "unknown \(id)"
        case .sound:
          state.last = state.index[id].map { state.articles[$0].name } ?? "unknown \(id)"
        }
      }
      return .none
    }
  }

  struct TillView: View {
    static let name = "TillView"
    func body(_ state: Observed<Till.State>, _ context: ViewContext) -> ViewNode {
      .text(state.last)
    }
  }

  enum Event: Sendable {
    case page(Int)
    case scanned(Int)
  }

  static let fault = PlantedFault(
    "index-per-action", .growth, "scanned", field: "articles",
    screen: { version in
      SimulatedScreen<Event>(
        TillView(), state: { Till.State() }, reducer: { _ in Till(version: version) },
        on: { (event: Event) -> [Till.Action] in
          switch event {
          case .page(let number): [.loaded(Article.page(number))]
          case .scanned(let id): [.scanned(id)]
          }
        })
    },
    events: [
      .recorded((0..<30).map { (.milliseconds(400 * $0), .page($0)) }),
      .poisson(every: .milliseconds(15)) { .scanned($0.integer(in: 0...2_999)) },
    ])
}
