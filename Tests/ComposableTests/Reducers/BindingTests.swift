import Composable
import ComposableTesting
import Testing

/// Tests bindings of fields and of their parts.
struct BindingTests {
  private func makeStore() -> TestStore<Search.State, Search.Action> {
    TestStore(initialState: Search.State()) { Search() }
  }

  @Test func `a pattern in a reducer matches the field that a binding action sets`() async {
    let store = makeStore()
    await store.send(.binding(.set(\.text, "a"))) {
      $0.text = "a"
      $0.reactions = ["text"]
    }
    await store.send(.binding(.set(\.isExact, true))) { $0.isExact = true }
  }

  @Test func `a binding action can set a part of a field, in a value or in a child's state`() async
  {
    let store = makeStore()
    await store.send(.binding(.set(\.filter.range.first, 3))) {
      $0.filter.range.first = 3
      $0.reactions = ["first"]
    }
    await store.send(.binding(.set(\.leaf.name, "Ada"))) { $0.leaf.name = "Ada" }
    await store.send(.binding(.set(\.filter.problem, nil)))
    await store.send(\.binding.text, "b") {
      $0.text = "b"
      $0.reactions.append("text")
    }
  }

  @Test
  func `binding actions are equal if they set the same part to equal values; both are printed`() {
    typealias Binding = BindingAction<Search.State>
    #expect(Binding.set(\.filter.range.first, 1) == .set(\.filter.range.first, 1))
    #expect(Binding.set(\.filter.range.first, 1) != .set(\.filter.range.last, 1))
    #expect(Binding.set(\.filter.range.first, 1) != .set(\.filter.range.first, 2))
    #expect(Binding.set(\.filter.range, Range(first: 1)).sets(\.filter.range))
    #expect(!Binding.set(\.filter.range.first, 1).sets(\.filter.range))
    #expect(Binding.set(\.filter.range.first, 1).description.hasSuffix(", 1)"))
    #expect(Binding.set(\.text, "a").description == ".set(\\.text, a)")
  }
}

private struct Range: Equatable, Sendable {
  var first = 0
  var last = 10
}

private struct Filter: Equatable, Sendable {
  var range = Range()
  var problem: String?
}

@Reducer
private struct Search {
  @ObservableState
  struct State: Equatable, Sendable {
    var text = ""
    var isExact = false
    var filter = Filter()
    var leaf = Leaf()
    var reactions: [String] = []
  }

  enum Action: Equatable, Sendable {
    case binding(BindingAction<State>)
  }

  var body: some ReducerOf<Self> {
    BindingReducer(action: \.binding)
    Reduce { state, action in
      switch action {
      case .binding(\.text): state.reactions.append("text")
      case .binding(\.filter.range.first): state.reactions.append("first")
      case .binding: break
      }
      return .none
    }
  }
}
