import Composable
import ComposableTesting
import Testing

/// A comment with replies, which are also comments.
@Reducer
private struct Comment {
  @ObservableState
  struct State: Equatable, Sendable, Identifiable {
    let id: Int
    var likes = 0
    var replies = KeyedCollection<Int, State>()
  }

  indirect enum Action: Equatable, Sendable {
    case liked
    case replied(id: Int)
    case replies(ElementAction<Int, Action>)
    case waited
    case removed(id: Int)
  }

  var body: some ReducerOf<Self> {
    Reduce { state, action in
      switch action {
      case .liked: state.likes += 1
      case .replied(let id): state.replies.append(State(id: id))
      case .removed(let id): state.replies.remove(id: id)
      case .waited: return .run { _ in await waitForCancellation() }
      case .replies: break
      }
      return .none
    }
    .forEach(\.replies, action: \.replies) { Comment() }
  }
}

struct RecursionTests {
  @Test func `a feature that contains itself reduces at every depth`() async {
    let store = TestStore(initialState: Comment.State(id: 0)) { Comment() }
    await store.send(.replied(id: 1)) { $0.replies.append(Comment.State(id: 1)) }
    await store.send(.to([1], .replied(id: 2))) {
      $0.replies[id: 1]?.replies.append(Comment.State(id: 2))
    }
    await store.send(.to([1, 2], .liked)) { $0.replies[id: 1]?.replies[id: 2]?.likes = 1 }
    await store.finish()
  }

  @Test func `effects at every depth end with their child`() {
    let lane = ManualLane()
    let store = Store(initialState: Comment.State(id: 0), lane: lane) { Comment() }
    store.send(.replied(id: 1))
    store.send(.to([1], .replied(id: 2)))
    store.send(.to([1, 2], .replied(id: 3)))
    for path in [[], [1], [1, 2], [1, 2, 3]] { store.send(.to(path, .waited)) }
    lane.run()
    #expect(store.runningEffects == 4)
    store.send(.to([1, 2], .removed(id: 3)))
    #expect(store.runningEffects == 3)
    store.send(.removed(id: 1))
    #expect(store.runningEffects == 1)
  }

  @Test func `actions of a recursive feature are counted by kind`() {
    let store = Store(initialState: Comment.State(id: 0), lane: DirectLane()) { Comment() }
    store.send(.replied(id: 1))
    store.send(.to([1], .liked))
    store.send(.to([1], .liked))
    #expect(
      store.actionsByKind.map { "\($0.kind) \($0.count)" } == ["replied 1", "replies.liked 2"])
  }
}

extension Comment.Action {
  /// Returns the action of the comment at the end of `path`.
  fileprivate static func to(_ path: [Int], _ action: Self) -> Self {
    path.reversed().reduce(action) { .replies(ElementAction(id: $1, action: $0)) }
  }
}
