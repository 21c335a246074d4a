import Composable
import HangSimulation
import ViewGraph

/// A spinner replaces a list during a reload, so all rows are removed and then created again
/// without any change.
enum SpinnerReplacesList {
  @Reducer struct News {
    @ObservableState struct State: Equatable, Sendable {
      var isLoading: Bool = false
      @ObservationStateIgnored var list: Headlines.State? = Headlines.State()
      var cached: [Article] = Article.page(0, of: 40)
    }
    enum Action: Sendable {
      case refreshed
      case loaded
      case list(Headlines.Action)
    }
    let version: PlantedFault.Version
    let load: @Sendable () async throws -> Void

    var body: some ReducerOf<Self> {
      Reduce { state, action in
        switch action {
        case .refreshed:
          state.isLoading = true
          if version == .faulty { state.list = nil }
          return .run(name: "News.load") { [load] send in
            try await load()
            send(.loaded)
          }
        case .loaded:
          state.isLoading = false
          if version == .faulty { state.list = Headlines.State() }
          return .none
        case .list: return .none
        }
      }.ifLet(\.list, action: \.list) { Headlines() }
    }
  }

  @Reducer struct Headlines {
    @ObservableState struct State: Equatable, Sendable {
      @ObservationStateIgnored var rows: KeyedCollection<Int, Row.State> = KeyedCollection(
        Article.page(0, of: 40).map { Row.State(id: $0.id, title: $0.name) })
    }
    enum Action: Sendable { case rows(ElementAction<Int, Row.Action>) }
    var body: some ReducerOf<Self> {
      Reduce { _, _ in .none }.forEach(\.rows, action: \.rows) { Row() }
    }
  }

  @Reducer struct Row {
    @ObservableState struct State: Equatable, Sendable, Identifiable {
      var id: Int
      var title: String

      init(id: Int, title: String) {
        self.id = id
        self.title = title
      }
    }
    enum Action: Sendable { case tapped }
    func reduce(into state: inout State, action: Action) -> Effect<Action> { .none }
  }

  struct NewsView: View {
    static let name = "NewsView"
    func body(_ state: Observed<News.State>, _ context: ViewContext) -> ViewNode {
      .column([
        state.isLoading ? .badge("loading", .faint) : .empty,
        context.child(HeadlinesView(), state, \.list),
      ])
    }
  }

  struct HeadlinesView: View {
    static let name = "HeadlinesView"
    func body(_ state: Observed<Headlines.State>, _ context: ViewContext) -> ViewNode {
      .column(context.each(RowView(), state, \.rows))
    }
  }

  struct RowView: View {
    static let name = "RowView"
    func body(_ state: Observed<Row.State>, _ context: ViewContext) -> ViewNode {
      .text("\(state.id): \(state.title)")
    }
  }

  static let fault = PlantedFault(
    "spinner-replaces-list", .identityChurn, "RowView",
    screen: { version in
      SimulatedScreen<Void>(
        NewsView(), state: { News.State() },
        reducer: { (world: SimulatedWorld) -> News in
          let server = world.effect(
            "server", EffectModel(latency: .milliseconds(200), spread: .milliseconds(200)))
          return News(version: version, load: { try await server.succeed() })
        }, on: { _ in [.refreshed] })
    },
    events: [.every(.seconds(2), from: .seconds(1)) { _ in }])
}
