import Composable
import HangSimulation
import ViewGraph

/// Each letter starts a search that the next letter cancels, so nearly all of the server's work is
/// wasted.
enum SearchWithoutDebounce {
  @Reducer struct Search {
    @ObservableState struct State: Equatable, Sendable {
      var query: String = ""
      var results: Int = 0
    }
    enum Action: Sendable {
      case typed(String)
      case found(Int)
    }
    let version: PlantedFault.Version
    let dependencies: Dependencies
    let search: @Sendable () async throws -> Void

    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      switch action {
      case .typed(let query):
        state.query = query
        let effect = Effect<Action>.run(name: "Search.find") { [search] send in
          try await search()
          send(.found(query.utf8.count))
        }
        let newest = effect.cancellable(id: "find", cancelInFlight: true)
        return version == .faulty
          ? newest
          : newest.debounce(id: "typing", for: .milliseconds(300), clock: dependencies.clock)
      case .found(let results):
        state.results = results
        return .none
      }
    }
  }

  struct SearchView: View {
    static let name = "SearchView"
    func body(_ state: Observed<Search.State>, _ context: ViewContext) -> ViewNode {
      .column([.text(state.query), .text("\(state.results) results", .faint)])
    }
  }

  static let fault = PlantedFault(
    "search-without-debounce", .wastedEffects, "server",
    screen: { version in
      SimulatedScreen<String>(
        SearchView(), state: { Search.State() },
        reducer: { (world: SimulatedWorld) -> Search in
          let server = world.effect(
            "server", EffectModel(latency: .milliseconds(250), spread: .milliseconds(100)))
          return Search(
            version: version, dependencies: world.dependencies,
            search: { try await server.succeed() })
        }, on: { [.typed($0)] })
    },
    // Words of eight letters, seven letters a second, with a pause after each word.
    events: (0..<8).map { word in
      .every(
        .milliseconds(140), from: .milliseconds(2_300 * word + 500),
        until: .milliseconds(2_300 * word + 1_600)
      ) { "query \($0.integer(in: 0...1_000_000))" }
    })
}
