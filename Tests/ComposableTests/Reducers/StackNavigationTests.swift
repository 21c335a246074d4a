import Composable
import ComposableTesting
import Testing

/// Tests a stack that is pushed and popped by actions.
struct StackNavigationTests {
  private func makeStore() -> TestStore<TapeDeck.State, TapeDeck.Action> {
    TestStore(initialState: TapeDeck.State()) { TapeDeck() }
  }

  @Test func `a parent reduces a push after the stack has changed, but a pop before it changes`()
    async
  {
    let store = makeStore()
    await store.send(.path(.push(id: 0, state: .song(Leaf())))) {
      $0.path = [.song(Leaf())]
      $0.seen = ["push 1"]
    }
    await store.send(\.path.push, (id: 1, state: .album(Leaf()))) {
      $0.path.append(.album(Leaf()))
      $0.seen.append("push 2")
    }
    await store.send(\.path[id: 1].album.counted, 3) {
      $0.path[id: 1]?.modify(\.album) { $0.count = 3 }
      $0.seen.append("element")
    }
    await store.send(\.path.popFrom, 0) {
      $0.path.removeAll()
      $0.seen.append("pop 2")
    }
  }

  @Test func `the effects of popped screens end`() async {
    let store = makeStore()
    for id in [0, 1] as [StackElementID] {
      await store.send(.path(.push(id: id, state: .song(Leaf())))) {
        $0.path.append(.song(Leaf()))
        $0.seen.append("push \($0.path.count)")
      }
      await store.send(\.path[id: id].song.slept, 1) { $0.seen.append("element") }
    }
    await store.send(.path(.popFrom(id: 0))) {
      $0.path = []
      $0.seen.append("pop 2")
    }
    await store.finish()
  }

  @Test func `pushing a used number or popping an absent screen changes nothing`() {
    let store = Store(initialState: TapeDeck.State(), lane: DirectLane()) { TapeDeck() }
    store.send(.path(.push(id: 4, state: .song(Leaf()))))
    store.send(.path(.popFrom(id: 4)))
    #expect(store.state.path.isEmpty && store.actionsWithoutChild == 0)
    for id in [0, 4] as [StackElementID] {
      store.send(.path(.push(id: id, state: .song(Leaf()))))
      store.send(.path(.popFrom(id: id)))
      store.send(.path(.element(id: id, action: .song(.counted(1)))))
    }
    #expect(store.state.path.isEmpty && store.actionsWithoutChild == 6)
    #expect(store.state.path.nextID == 5)
  }

  @Test func `a screen that dismisses itself is popped by an action`() {
    let store = Store(initialState: TapeDeck.State(), lane: DirectLane()) { TapeDeck() }
    for id in [0, 1, 2] as [StackElementID] {
      store.send(.path(.push(id: id, state: .song(Leaf()))))
    }
    store.send(.path(.element(id: 1, action: .song(.dismissed))))
    #expect(Array(store.state.path.ids) == [0])
    #expect(store.state.seen.last == "pop 3")
  }

  @Test func `a screen has its own store handle`() {
    let store = Store(
      initialState: TapeDeck.State(path: [.song(Leaf())]), lane: DirectLane()
    ) { TapeDeck() }
    let screen = store.scope(state: \.path, id: 0, action: \.path)
    screen?.send(.song(.named("Naima")))
    #expect(screen?.state?[case: \.song]?.name == "Naima")
    store.send(.path(.popFrom(id: 0)))
    #expect(screen?.state == nil)
  }
}

@Reducer
enum Screens {
  case song(LeafFeature)
  case album(LeafFeature)
}

@Reducer
private struct TapeDeck {
  @ObservableState
  struct State: Equatable, Sendable {
    var path: StackState<Screens.State> = []
    var seen: [String] = []
  }

  enum Action: Sendable {
    case path(StackActionOf<Screens>)
  }

  var body: some ReducerOf<Self> {
    Reduce { state, action in
      switch action {
      case .path(.push): state.seen.append("push \(state.path.count)")
      case .path(.popFrom): state.seen.append("pop \(state.path.count)")
      case .path(.element): state.seen.append("element")
      }
      return .none
    }
    .stack(\.path, action: \.path) {
      Screens.Features(song: LeafFeature(), album: LeafFeature())
    }
  }
}
