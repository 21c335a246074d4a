import Composable
import ComposableTesting
import Testing

struct StackStateTests {
  @Test func `the number of a popped screen is not reused`() {
    var path = StackState<String>()
    #expect(path.push("a") == 0)
    #expect(path.push("b") == 1)
    #expect(path.pop() == "b")
    #expect(path.push("c") == 2)
    path.pop(to: 0)
    #expect(path.push("d") == 3 && path.ids == [0, 3])
    path.removeAll()
    #expect(path.push("e") == 4 && path.push("f") == 5)
    path.remove(id: 4)
    #expect(path.push("g") == 6 && path.map { $0 } == ["f", "g"])
  }

  @Test func `copies of a stack assign the same numbers`() {
    var path = StackState<String>()
    path.push("a")
    path.pop()
    var copy = path
    #expect(path.push("b") == copy.push("b") && path == copy)
  }

  @Test func `an action for a popped screen reaches no other screen`() {
    let store = Store(initialState: Pages.State(), lane: DirectLane()) { Pages() }
    for _ in 0..<2 { store.send(.pushed) }
    store.send(.popped)
    store.send(.pushed)
    store.send(.path(StackAction(id: 1, action: .counted(5))))
    #expect(store.state.path.allSatisfy { $0.count == 0 } && store.state.path.count == 2)
    #expect(store.actionsWithoutChild == 1)
  }
}

@Reducer
private struct Pages {
  @ObservableState
  struct State: Equatable, Sendable {
    var path = StackState<Leaf>()
  }

  enum Action: Sendable {
    case pushed
    case popped
    case path(StackAction<LeafFeature.Action>)
  }

  var body: some ReducerOf<Self> {
    Reduce { state, action in
      switch action {
      case .pushed: state.path.push(Leaf())
      case .popped: state.path.pop()
      case .path: break
      }
      return .none
    }
    .forEach(\.path, action: \.path) { LeafFeature() }
  }
}

extension StackStateTests {
  @Test func `a screen is popped together with the screens above it`() {
    var path = StackState(["a", "b", "c"])
    path.append("d")
    path.append(contentsOf: ["e", "f"])
    #expect(path.ids == [0, 1, 2, 3, 4, 5] && path.nextID == 6)
    path.pop(from: 4)
    #expect(path.elements == ["a", "b", "c", "d"])
    path.pop(from: 4)
    #expect(path.count == 4, "the screen does not exist")
    #expect(path.removeLast() == "d")
    path.pop(to: 0)
    #expect(path.elements == ["a"] && path.nextID == 6)
  }
}
