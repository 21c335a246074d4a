import Composable

/// A catalogue, as used by the features.
struct Catalogue: DependencyValue {
  var titles: @Sendable (_ text: String) async throws -> [String]

  static var live: Catalogue { Catalogue { [$0] } }
}

/// Searches for titles once the user pauses.
@Reducer
struct Search {
  @ObservableState
  struct State: Equatable, Sendable {
    var text = ""
    var titles: [String] = []
    var isFailed = false
  }

  enum Action: Sendable {
    case edited(String)
    case response(Result<[String], any Error>)
  }

  let dependencies: Dependencies

  func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .edited(let text):
      state.text = text
      return .run(name: "Search") { [catalogue = dependencies[Catalogue.self]] send in
        send(.response(.success(try await catalogue.titles(text))))
      } catch: { error, send in
        send(.response(.failure(error)))
      }
      .debounce(id: "search", for: .milliseconds(300), clock: dependencies.clock)
    case .response(.success(let titles)):
      state.titles = titles
      state.isFailed = false
      return .none
    case .response(.failure):
      state.isFailed = true
      return .none
    }
  }
}
