import Composable

/// A question to the audience that closes automatically.
@Reducer
struct Poll {
  @ObservableState
  struct State: Equatable, Sendable {
    var votes = 0
  }

  enum Action: Equatable, Sendable {
    case opened
    case voted
    case closed
  }

  let clock: any Clock<Duration>

  func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .opened:
      return .run(name: "Poll.close") { [clock] send in
        try await clock.sleep(for: .seconds(60))
        send(.closed)
      }
    case .voted:
      state.votes += 1
      return .none
    case .closed: return .none
    }
  }
}

/// Counts the seconds on air.
@Reducer
struct Broadcast {
  @ObservableState
  struct State: Equatable, Sendable {
    var seconds = 0
  }

  enum Action: Equatable, Sendable {
    case began
    case ticked
  }

  let clock: any Clock<Duration>

  func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .began: return .timer(every: .seconds(1), clock: clock) { _ in .ticked }
    case .ticked:
      state.seconds += 1
      return .none
    }
  }
}

@Reducer
struct Guest {
  @ObservableState
  struct State: Equatable, Identifiable, Sendable {
    let id: UInt64
    var name: String
    var isMuted = false
  }

  enum Action: Equatable, Sendable {
    case muteTapped
    case leftTapped
  }

  func reduce(into state: inout State, action: Action) -> Effect<Action> {
    if case .muteTapped = action { state.isMuted.toggle() }
    return .none
  }
}

@Reducer
struct Settings {
  @ObservableState
  struct State: Equatable, Sendable {
    var title = ""
    var isSlow = false
  }

  enum Action: Equatable, Sendable {
    case binding(BindingAction<State>)
    case doneTapped
  }

  var body: some ReducerOf<Self> {
    BindingReducer(action: \.binding)
    Reduce { _, action in
      if case .doneTapped = action { .dismiss } else { .none }
    }
  }
}

@Reducer
struct Page {
  @ObservableState
  struct State: Equatable, Sendable {
    var title: String
  }

  enum Action: Equatable, Sendable {
    case backTapped
  }

  func reduce(into state: inout State, action: Action) -> Effect<Action> { .none }
}
