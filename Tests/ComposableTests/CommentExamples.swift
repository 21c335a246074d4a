import Composable
import ComposableTesting

// The code of the examples in comments of the public interface. ``CommentTests`` compares both.

enum CommentExamples {
  @Reducer
  struct Chat {
    @ObservableState struct State: Equatable { var text = "" }
    enum Action: Equatable { case typed(String) }

    func reduce(into state: inout State, action: Action) -> Effect<Action> { .none }
  }

  @Reducer
  struct Room {
    @ObservableState struct State { var title = ""; var chat = Chat.State() }
    enum Action { case titled(String); case chat(Chat.Action) }

    var body: some ReducerOf<Self> {
      Scope(state: \.chat, action: \.chat) { Chat() }
      Reduce { state, action in
        if case .titled(let title) = action { state.title = title }
        return .none
      }
    }
  }

  static func store(on lane: any Lane) -> Observer {
    let store = Store(initialState: Room.State(), lane: lane) { Room() }
    let observer = store.observe(\.title) { print(store.state.title) }
    store.send(.titled("Evening show"))
    return observer
  }

  typealias Show = Room

  enum OnALane {
    actor Room {
      let lane = SerialLane(label: "room")
      nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }
      lazy var store = Store(initialState: Show.State(), lane: lane) { Show() }
      func send(_ action: Show.Action) { store.send(action) }
    }
  }
}

// Children.
extension CommentExamples {
  typealias Row = Chat
  typealias RowFeature = Chat
  typealias HeaderFeature = Chat
  typealias Player = Chat
  typealias Confirmation = Chat
  typealias Screen = Chat
  typealias Login = Chat
  typealias Home = Chat

  @ObservableState enum Phase { case waiting; case live(Show.State) }

  enum AlertAction: Equatable { case deleteConfirmed }

  @Reducer
  struct AddSong {
    @ObservableState struct State: Equatable { var title = "" }
    enum Action { case titled(String) }

    let client: SongClient

    func reduce(into state: inout State, action: Action) -> Effect<Action> { .none }
  }

  typealias EditSong = Chat

  @Reducer enum Destination { case add(AddSong); case edit(EditSong) }

  @Reducer
  struct Family {
    @ObservableState
    struct State {
      var header = HeaderFeature.State()
      var player: Player.State?
      var confirmation: Confirmation.State?
      var phase: Phase = .waiting
      var rows = KeyedCollection<Int, Row.State>()
      var path = StackState<Screen.State>()
      var alert: AlertState<AlertAction>?
      var destination: Destination.State?
      var count = 0
      var name = ""
    }

    enum Action {
      case header(HeaderFeature.Action)
      case player(Player.Action)
      case confirmation(PresentationAction<Confirmation.Action>)
      case show(Show.Action)
      case rows(ElementAction<Int, Row.Action>)
      case path(StackAction<Screen.Action>)
      case alert(PresentationAction<AlertAction>)
      case destination(PresentationAction<Destination.Action>)
      case binding(BindingAction<State>)
      case deleteTapped
    }

    let client: SongClient

    var body: some ReducerOf<Self> {
      Scope(state: \.header, action: \.header) { HeaderFeature() }
      BindingReducer(action: \.binding)
      Reduce { state, action in
        switch action {
        case .deleteTapped:
          state.alert = AlertState(
            "Delete it?",
            buttons: [
              ButtonState("Delete", role: .destructive, action: .deleteConfirmed),
              ButtonState("Keep", role: .cancel),
            ])
        default: break
        }
        return .none
      }
      .ifLet(\.player, action: \.player) { Player() }
      Reduce { _, _ in .none }.presents(\.confirmation, action: \.confirmation) { Confirmation() }
      Reduce { _, _ in .none }.ifCaseLet(\.phase, case: \.live, action: \.show) { Show() }
      Reduce { _, _ in .none }.forEach(\.rows, action: \.rows) { RowFeature() }
      Reduce { _, _ in .none }.forEach(\.path, action: \.path) { Screen() }
      Reduce { _, _ in .none }.presents(\.alert, action: \.alert) { Alert() }
      Reduce { _, _ in .none }.presents(\.destination, action: \.destination) {
        Destination.Features(add: AddSong(client: client), edit: EditSong())
      }
      Reduce { _, _ in .none }.onChange(of: \.count) { old, new, state, action in .none }
    }
  }

  static func bind(_ store: Store<Family.State, Family.Action>) {
    store.send(.binding(.set(\.name, "Ada")))
  }

  @Reducer
  struct Logging {
    typealias State = Family.State
    typealias Action = Family.Action

    func reduce(into state: inout State, action: Action) -> Effect<Action> { .none }
  }

  @Reducer
  struct Form {
    typealias State = Family.State
    typealias Action = Family.Action

    var body: some ReducerOf<Self> {
      BindingReducer(action: \.binding)
      Reduce { state, action in .none }
    }
  }

  @Reducer
  struct Combined {
    typealias State = Family.State
    typealias Action = Family.Action

    var body: some ReducerOf<Self> {
      CombineReducers {
        Reduce { _, _ in .none }
        Logging()
      }
      .ifLet(\.player, action: \.player) { Player() }
    }
  }

  @Reducer
  struct Account {
    @ObservableState enum State { case signedOut(Login.State); case signedIn(Home.State) }
    enum Action { case signedOut(Login.Action); case signedIn(Home.Action) }

    var body: some ReducerOf<Self> {
      Reduce { _, _ in .none }
        .ifCaseLet(\.signedOut, action: \.signedOut) { Login() }
        .ifCaseLet(\.signedIn, action: \.signedIn) { Home() }
    }
  }
}

// Effects and dependencies.
extension CommentExamples {
  static func download() async throws -> String { "So What" }

  struct SongClient: DependencyValue {
    var next: @Sendable () async throws -> String
    static var live: SongClient { SongClient { try await download() } }
  }

  struct Preview { let dependencies: Dependencies }

  static func songs(_ dependencies: Dependencies) -> (SongClient, Preview) {
    let client = dependencies[SongClient.self]
    return (client, Preview(dependencies: dependencies.overriding(SongClient { "Blue in Green" })))
  }

  enum WithDependencies {
    @Reducer
    struct Room {
      let dependencies: Dependencies

      @ObservableState struct State { var id: UInt64 = 0 }
      enum Action { case opened }

      func reduce(into state: inout State, action: Action) -> Effect<Action> {
        switch action {
        case .opened: state.id = dependencies.identifiers.next()
        }
        return .none
      }
    }
  }

  struct ChatClient: Sendable {
    var messages: @Sendable () -> AsyncStream<String>
    var stop: @Sendable () async throws -> Void
  }

  @Reducer
  struct Working {
    @ObservableState struct State { var header = HeaderFeature.State() }
    enum Action {
      case opened, received(String), stopTapped, stopped, mutedAll, started, ticked, scrolled
      case typed(String), refreshed, header(HeaderFeature.Action), chat(Chat.Action)
    }

    let client: ChatClient
    let clock: TestClock
    var player: ChatClient { client }

    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      switch action {
      case .opened:
        return .run(sequence: client.messages()) { .received($0) }.cancellable(id: "messages")
      case .stopTapped:
        return .concatenate(.run { _ in try await player.stop() }, .send(.stopped))
      case .mutedAll: return .cancel(id: "typing", in: \.chat)
      case .started:
        return .timer(every: .seconds(1), clock: clock) { _ in .ticked }.cancellable(id: "timer")
      case .scrolled: return .run { _ in }.throttle(id: "scrolled", for: .seconds(1), clock: clock)
      case .typed(let text):
        return search(text).debounce(id: "search", for: .milliseconds(300), clock: clock)
      case .refreshed:
        return HeaderFeature().reduce(into: &state.header, action: .typed("")).map(Action.header)
      default: return .none
      }
    }

    private func search(_ text: String) -> Effect<Action> { .send(.received(text)) }
  }
}

// Tests.
extension CommentExamples {
  struct RecorderClient { var start: @Sendable () -> Bool }

  static func recorder() -> RecorderClient {
    var recorder = RecorderClient(start: unset("recorder.start", returning: false))
    recorder.start = { true }
    return recorder
  }

  @Reducer
  struct Timer {
    @ObservableState struct State: Equatable { var seconds = 0 }
    enum Action: Equatable { case started; case ticked }

    let clock: TestClock

    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      switch action {
      case .started: return .timer(every: .seconds(1), clock: clock) { _ in .ticked }
      case .ticked:
        state.seconds += 1
        return .none
      }
    }
  }

  @Reducer
  struct Named {
    @ObservableState struct State: Equatable { var name = "" }
    enum Action: Equatable { case renamed(String) }

    func reduce(into state: inout State, action: Action) -> Effect<Action> {
      if case .renamed(let name) = action { state.name = name }
      return .none
    }
  }

  @Reducer
  struct Counter {
    @ObservableState
    struct State: Equatable {
      var count = 3
      var isLoading = false
      var fact = ""
      var rows = KeyedCollection<Int, Named.State>()
    }

    enum Action: Equatable {
      case factButtonTapped
      case factLoaded(String)
      case request
      case response(Result<String, CancellationErrorValue>)
      case rows(ElementAction<Int, Named.Action>)
    }

    var body: some ReducerOf<Self> {
      Reduce { state, action in
        switch action {
        case .factButtonTapped:
          state.isLoading = true
          return .send(.factLoaded("3 is odd."))
        case .factLoaded(let fact):
          state.isLoading = false
          state.fact = fact
        case .request:
          state.isLoading = true
          return .send(.response(.success("")))
        case .response: state.isLoading = false
        case .rows: break
        }
        return .none
      }
      .forEach(\.rows, action: \.rows) { Named() }
    }
  }

  struct CancellationErrorValue: Error, Equatable {}
}
