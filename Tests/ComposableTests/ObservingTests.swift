import Composable
import ComposableTesting
import Testing

// The code of the article "Observing". ``ArticleTests`` compares both.

@Reducer
struct Hall {
  @ObservableState
  struct State: Equatable, Sendable {
    var title = ""
    var jukebox = Jukebox.State()
    var rows = KeyedCollection<Int, Leaf>()
    @ObservationStateIgnored var recorder: Leaf?

    var isFull: Bool { rows.count >= 2 }
  }

  enum Action: Sendable {
    case titled(String)
    case recorded
    case seated(Int)
    case jukebox(Jukebox.Action)
    case rows(ElementAction<Int, LeafFeature.Action>)
  }

  var body: some ReducerOf<Self> {
    Scope(state: \.jukebox, action: \.jukebox) { Jukebox(client: SongClient { "" }) }
    Reduce { state, action in
      switch action {
      case .titled(let title): state.title = title
      case .recorded: state.recorder = Leaf()
      case .seated(let id): state.rows.append(Leaf(), id: id)
      case .jukebox, .rows: break
      }
      return .none
    }
    .forEach(\.rows, action: \.rows) { LeafFeature() }
  }
}

struct ObservingTests {
  private let calls = Calls()

  private func say(_ line: String) { calls.record(line) }

  @Test func `only the observers of changed fields are called`() {
    let store = Store(initialState: Hall.State(), lane: ManualLane()) { Hall() }
    let observers = [
      // A field of the whole state.
      store.observe(\.title) { say("title") },
      // A field of a child.
      store.place.child(\.jukebox).observe(\.title) { say("song") },
      // The same node, through a handle.
      store.scope(state: \.jukebox, action: \.jukebox).place.observe(\.title) { say("song again") },
      // The presence of an optional child.
      store.observePresence(\.recorder) { isPresent in say("recorder \(isPresent)") },
      // Insertions, removals, moves and changes of elements.
      store.place.child(\.rows).observeElements { lists in say("\(lists.count) lists") },
    ]
    store.send(.titled("Evening show"))
    #expect(calls.taken() == ["title"])
    store.send(.jukebox(.songLoaded("So What")))
    #expect(calls.taken() == ["song", "song again"])
    store.send(.recorded)
    #expect(calls.taken() == ["recorder true"])
    store.send(.seated(1))
    #expect(calls.taken() == ["1 lists"])
    withExtendedLifetime(observers) {}
  }

  @Test func `withState reads the state without copying it`() {
    let store = Store(initialState: Hall.State(), lane: ManualLane()) { Hall() }
    for (seat, expected) in [(1, false), (2, true)] {
      store.send(.seated(seat))
      let isFull = store.withState { $0.value.isFull }
      #expect(isFull == expected)
    }
  }

  @Test func `printChanges prints the changed fields`() {
    let store = Store(initialState: Hall.State(), lane: ManualLane()) { Hall() }
    store.send(.seated(1))
    store.printChanges { line in say(line) }
    store.send(.rows(ElementAction(id: 1, action: .counted(1))))
    store.send(.titled("x"))
    #expect(calls.taken() == ["rows.counted: rows.1.count", "titled: title"])
  }
}
