import Composable
import ComposableTesting
import Testing

// The code of the article "Getting started", in its order. ``ArticleTests`` compares both.

/// Asks a service for the next song.
struct SongClient: Sendable {
  var next: @Sendable () async throws -> String
}

@Reducer
struct Jukebox {
  @ObservableState
  struct State: Equatable, Sendable {
    var title = ""
    var isLoading = false
    var problem: String?
  }

  enum Action: Equatable, Sendable {
    case skipTapped
    case stopTapped
    case songLoaded(String)
    case loadingFailed(String)
  }

  let client: SongClient

  func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .skipTapped:
      state.isLoading = true
      state.problem = nil
      return .run(name: "Jukebox.next") { [client] send in
        send(.songLoaded(try await client.next()))
      } catch: { error, send in
        send(.loadingFailed("\(error)"))
      }
      .cancellable(id: "next", cancelInFlight: true)

    case .stopTapped:
      state.isLoading = false
      state.title = ""
      return .cancel(id: "next")

    case .songLoaded(let title):
      state.isLoading = false
      state.title = title
      return .none

    case .loadingFailed(let problem):
      state.isLoading = false
      state.problem = problem
      return .none
    }
  }
}

/// Called on the lane: a store belongs to it.
func makeStore(
  on lane: some Lane, client: SongClient, say: @escaping (String) -> Void
) -> Store<Jukebox.State, Jukebox.Action> {
  let store = Store(initialState: Jukebox.State(), lane: lane) { Jukebox(client: client) }
  store.onFailure = { failure in say("failure: \(failure)") }
  _ = store.observe(\.title) { [unowned store] in say("now playing: \(store.state.title)") }
  return store
}

struct NoMoreSongs: Error {}

struct JukeboxTests {
  @Test func `the player loads a song`() async {
    let store = TestStore(initialState: Jukebox.State()) {
      Jukebox(client: SongClient { "Blue in Green" })
    }
    await store.send(.skipTapped) { $0.isLoading = true }
    await store.receive(.songLoaded("Blue in Green")) {
      $0.isLoading = false
      $0.title = "Blue in Green"
    }
    await store.finish()
  }

  @Test func `the player shows a problem until the next attempt`() async {
    let store = TestStore(initialState: Jukebox.State()) {
      Jukebox(client: SongClient { throw NoMoreSongs() })
    }
    await store.send(.skipTapped) { $0.isLoading = true }
    await store.receive(\.loadingFailed) {
      $0.isLoading = false
      $0.problem = "NoMoreSongs()"
    }
    await store.send(.skipTapped) {
      $0.isLoading = true
      $0.problem = nil
    }
    await store.skipReceivedActions()
  }

  @Test func `stopping the player cancels the request in progress`() async {
    let clock = TestClock()
    let client = SongClient {
      try await clock.sleep(for: .seconds(2))
      return "So What"
    }
    let store = TestStore(initialState: Jukebox.State(), clock: clock) { Jukebox(client: client) }
    await store.send(.skipTapped) { $0.isLoading = true }
    clock.advance(by: .seconds(1))
    await store.send(.stopTapped) { $0.isLoading = false }
    clock.advance(by: .seconds(5))
    await store.finish()
  }
}

@Reducer
struct Bar {
  @ObservableState
  struct State: Equatable, Sendable {
    var guests = 0
    var jukebox = Jukebox.State()
  }

  enum Action: Equatable, Sendable {
    case guestCame
    case jukebox(Jukebox.Action)
  }

  let client: SongClient

  var body: some ReducerOf<Self> {
    Scope(state: \.jukebox, action: \.jukebox) { Jukebox(client: client) }
    Reduce { state, action in
      if case .guestCame = action { state.guests += 1 }
      return .none
    }
  }
}

// The end of the article's code.

struct GettingStartedTests {
  @Test func `the store of the article reports what is playing`() {
    let lane = ManualLane()
    var lines: [String] = []
    let store = makeStore(on: lane, client: SongClient { "Freddie Freeloader" }) {
      lines.append($0)
    }
    store.send(.skipTapped)
    lane.run()
    #expect(lines == ["now playing: Freddie Freeloader"])
  }

  @Test func `the parent feature in the article runs its child`() async {
    let store = TestStore(initialState: Bar.State()) {
      Bar(client: SongClient { "All Blues" })
    }
    await store.send(.guestCame) { $0.guests = 1 }
    await store.send(.jukebox(.skipTapped)) { $0.jukebox.isLoading = true }
    await store.receive(\.jukebox.songLoaded, "All Blues") {
      $0.jukebox.isLoading = false
      $0.jukebox.title = "All Blues"
    }
  }
}
