import Composable
import ComposableTesting
import Testing

// The code of the article "Optional children and collections of children". ``ArticleTests``
// compares both.

@Reducer
struct Visit {
  @ObservableState
  struct State: Equatable, Identifiable, Sendable {
    let id: Int
    var minutes = 0
  }

  enum Action: Equatable, Sendable {
    case arrived
    case minutePassed
    case leaveTapped
  }

  let clock: any Clock<Duration>

  func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .arrived:
      let clock = clock
      return .run(name: "Visit.minutes") { send in
        while true {
          try await clock.sleep(for: .seconds(60))
          send(.minutePassed)
        }
      }
    case .minutePassed:
      state.minutes += 1
      return .none
    case .leaveTapped: return .dismiss
    }
  }
}

@Reducer
enum Destination {
  case visit(Visit)
  case jukebox(Jukebox)
}

@Reducer
struct Hotel {
  @ObservableState
  struct State: Equatable, Sendable {
    var porter: Visit.State?
    var destination: Destination.State?
    var guests = KeyedCollection<Int, Visit.State>()
  }

  enum Action: Sendable {
    case guestCame(Int)
    case guestLeft(Int)
    case porterCalled
    case jukeboxTapped
    case porter(Visit.Action)
    case destination(PresentationAction<Destination.Action>)
    case guests(ElementAction<Int, Visit.Action>)
  }

  let clock: any Clock<Duration>
  let songs: SongClient

  var body: some ReducerOf<Self> {
    Reduce { state, action in
      switch action {
      case .guestCame(let id):
        state.guests.append(Visit.State(id: id))
        return .send(.guests(ElementAction(id: id, action: .arrived)))
      case .guestLeft(let id): state.guests.remove(id: id)
      case .porterCalled: state.porter = Visit.State(id: 0)
      case .jukeboxTapped: state.destination = .jukebox(Jukebox.State())
      case .porter(.leaveTapped): state.porter = nil
      case .porter, .destination, .guests: break
      }
      return .none
    }
    .ifLet(\.porter, action: \.porter) { Visit(clock: clock) }
    .presents(\.destination, action: \.destination) {
      Destination.Features(visit: Visit(clock: clock), jukebox: Jukebox(client: songs))
    }
    .forEach(\.guests, action: \.guests) { Visit(clock: clock) }
  }
}

struct ChildrenThatComeAndGoTests {
  @Test func `a guest's minutes are counted until the guest leaves`() async {
    let clock = TestClock()
    let store = TestStore(initialState: Hotel.State(), clock: clock) {
      Hotel(clock: clock, songs: SongClient { "" })
    }
    await store.send(.guestCame(7)) { $0.guests.append(Visit.State(id: 7)) }
    await store.receive(\.guests[id: 7].arrived)
    clock.advance(by: .seconds(60))
    await store.receive(\.guests[id: 7].minutePassed) { $0.guests[id: 7]?.minutes = 1 }
    await store.send(.guestLeft(7)) { $0.guests.remove(id: 7) }
    await store.finish()
  }

  @Test func `a presented child dismisses itself`() async {
    let store = TestStore(
      initialState: Hotel.State(destination: .visit(Visit.State(id: 1)))
    ) {
      Hotel(clock: TestClock(), songs: SongClient { "" })
    }
    await store.send(\.destination.presented.visit, .leaveTapped)
    await store.receive(\.destination.dismiss) { $0.destination = nil }
  }
}
