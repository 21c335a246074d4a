import Composable
import ComposableTesting
import Testing

/// Tests children in an enum, presented or optional, and their effects.
struct PresentationTests {
  let lane = ManualLane()

  private func makeStore() -> Store<Lobby.State, Lobby.Action> {
    Store(initialState: Lobby.State(), lane: lane) { Lobby() }
  }

  private func makeHouse() -> Store<Manor.State, Manor.Action> {
    Store(initialState: Manor.State(), lane: lane) { Manor() }
  }

  @Test(arguments: [false, true])
  func `a presented enum with another case, or another child's id, counts as another child`(
    isPresented: Bool
  ) {
    let store = makeStore()
    func show(_ room: Room.State) { store.send(isPresented ? .shown(room) : .opened(room)) }
    func wait() {
      let action = Room.Action.visitor(.waited)
      store.send(isPresented ? .presented(.presented(action)) : .optional(action))
      lane.run()
      #expect(store.runningEffects == 1)
    }
    show(.visitor(Visitor.State(id: 1)))
    wait()
    show(.visitor(Visitor.State(id: 1)))
    #expect(store.runningEffects == 1, "the visitor is the same")
    show(.visitor(Visitor.State(id: 2)))
    #expect(store.runningEffects == 0)
    wait()
    show(.alert(AlertState("Closed")))
    #expect(store.runningEffects == 0)
    show(.visitor(Visitor.State(id: 2)))
    #expect(store.runningEffects == 0)
  }

  @Test func `an enum that shows another id or another case counts as another child`() {
    let store = makeStore()
    func wait() {
      store.send(.lamp(.presented(.waited)))
      lane.run()
      #expect(store.runningEffects == 1)
    }
    store.send(.lit(.on(id: 1, Leaf())))
    wait()
    store.send(.lit(.on(id: 1, Leaf(count: 7, name: ""))))
    #expect(store.runningEffects == 1)
    store.send(.lit(.on(id: 2, Leaf())))
    #expect(store.runningEffects == 0)
    wait()
    store.send(.lit(.off(id: 2)))
    #expect(store.runningEffects == 0)
  }

  @Test func `a child in a presented enum with a changed id is another child`() {
    let store = makeStore()
    func send(_ action: Visitor.Action) {
      store.send(.presented(.presented(.visitor(action))))
      lane.run()
    }
    store.send(.shown(.visitor(Visitor.State(id: 1))))
    send(.waited)
    #expect(store.runningEffects == 1)
    send(.renamed(2))
    #expect(store.runningEffects == 0)
    send(.waited)
    send(.renamedAndWaited(3))
    #expect(store.runningEffects == 1, "the effect of the new child runs")
    store.send(.shown(.visitor(Visitor.State(id: 3))))
    #expect(store.runningEffects == 1)
  }

  @Test func `an action for a case that is not the current one is dropped and counted`() {
    let store = makeStore()
    let room = Room.State.visitor(Visitor.State(id: 1))
    store.send(.shown(room))
    store.send(.opened(room))
    store.send(.presented(.presented(.leaf(.counted(1)))))
    store.send(.optional(.leaf(.counted(1))))
    #expect(store.actionsWithoutChild == 2)
    #expect(store.state.presented == room && store.state.optional == room)
  }

  @Test func `a child's cancellation and cancelInFlight do not affect its parent`() {
    let store = makeStore()
    func send(_ action: Visitor.Action) {
      store.send(.presented(.presented(.visitor(action))))
      lane.run()
    }
    store.send(.shown(.visitor(Visitor.State(id: 1))))
    store.send(.waited)
    send(.cancelled)
    #expect(store.runningEffects == 1)
    send(.waitedAlone)
    send(.waitedAlone)
    #expect(store.runningEffects == 2, "the parent's effect and the child's last effect run")
    store.send(.cancelled)
    #expect(store.runningEffects == 1, "the child's")
    send(.cancelled)
    #expect(store.runningEffects == 0)
  }

  @Test func `a grandchild can be dismissed from the root`() {
    let store = makeHouse()
    func send(_ action: Lobby.Action) { store.send(.lobby(.presented(action))) }
    store.send(.entered)
    send(.shown(.visitor(Visitor.State(id: 1))))
    send(.presented(.presented(.visitor(.waited))))
    send(.waited)
    lane.run()
    #expect(store.runningEffects == 2)
    send(.presented(.dismiss))
    #expect(store.state.lobby == Lobby.State())
    #expect(store.runningEffects == 1, "the lobby's")
  }

  @Test func `the handle of a grandchild's effects stays valid after the child is removed`()
    async throws
  {
    let store = makeHouse()
    store.send(.entered)
    store.send(.lobby(.presented(.shown(.visitor(Visitor.State(id: 1))))))
    let handle = store.start(
      .lobby(.presented(.presented(.presented(.visitor(.waited))))))
    lane.run()
    #expect(handle.isRunning)
    store.send(.lobby(.dismiss))
    // If the handle ended with the child, `finish` would wait forever.
    try #require(!handle.isRunning && store.runningEffects == 0)
    await handle.finish()
    handle.cancel()
    store.send(.lobby(.presented(.presented(.presented(.visitor(.waited))))))
    #expect(store.actionsWithoutChild == 1 && store.runningEffects == 0)
  }

  @Test func `a child that was presented by its grandparent's action is dismissed once`() {
    let store = makeHouse()
    store.send(.entered)
    store.send(.invited)
    #expect(store.state.lobby?.presented == .visitor(Visitor.State(id: 9)))
    store.send(.lobby(.presented(.presented(.dismiss))))
    #expect(store.state.lobby == Lobby.State() && store.actionsWithoutChild == 0)
    store.send(.lobby(.presented(.presented(.dismiss))))
    #expect(store.state.lobby == Lobby.State() && store.actionsWithoutChild == 1)
    store.send(.invited)
    store.send(.lobby(.presented(.presented(.presented(.visitor(.leftTwice))))))
    #expect(store.state.lobby == Lobby.State() && store.actionsWithoutChild == 2)
  }

  @Test func `of recursively presented features, the innermost is dismissed`() {
    let store = Store(initialState: Level.State(), lane: lane) { Level() }
    for depth in 0..<3 {
      store.send(.inside(depth, .wentDown))
      store.send(.inside(depth + 1, .waited))
    }
    lane.run()
    #expect(store.state.depth == 3 && store.runningEffects == 3)
    store.send(.inside(3, .left))
    #expect(store.state.depth == 2 && store.runningEffects == 2)
    store.send(.inside(1, .left))
    #expect(store.state.depth == 0 && store.runningEffects == 0)
    #expect(store.failures == 0 && store.actionsWithoutChild == 0)
  }
}

@Reducer
private struct Visitor {
  @ObservableState
  struct State: Equatable, Identifiable, Sendable {
    var id: Int

    init(id: Int) { self.id = id }
  }

  enum Action: Equatable, Sendable {
    case waited
    /// Cancels the earlier ones.
    case waitedAlone
    case cancelled
    case renamed(Int)
    case renamedAndWaited(Int)
    case leftTwice
  }

  func reduce(into state: inout State, action: Action) -> Effect<Action> {
    let wait = Effect<Action>.run { _ in await waitForCancellation() }
    switch action {
    case .waited: return wait
    case .waitedAlone: return wait.cancellable(id: 1, cancelInFlight: true)
    case .cancelled: return .cancel(id: 1)
    case .renamed(let id):
      state.id = id
      return .none
    case .renamedAndWaited(let id):
      state.id = id
      return wait
    case .leftTwice: return .merge(.dismiss, .dismiss)
    }
  }
}

private enum Answer: Equatable, Sendable { case understood }

@Reducer
private enum Room {
  case visitor(Visitor)
  case leaf(LeafFeature)
  case alert(Alert<Answer>)
}

/// An enum that defines its own identity.
@ObservableState
private enum Lamp: Equatable, Identifiable, Sendable {
  case on(id: Int, Leaf)
  case off(id: Int)

  var id: Int {
    switch self {
    case .on(let id, _), .off(let id): id
    }
  }
}

@Reducer
private struct LampFeature {
  typealias State = Lamp

  enum Action: Sendable { case waited }

  func reduce(into state: inout Lamp, action: Action) -> Effect<Action> {
    .run { _ in await waitForCancellation() }
  }
}

@Reducer
private struct Lobby {
  @ObservableState
  struct State: Equatable, Sendable {
    var presented: Room.State?
    var optional: Room.State?
    var lamp: Lamp?
  }

  enum Action: Sendable {
    case shown(Room.State)
    case opened(Room.State)
    case lit(Lamp)
    case waited
    case cancelled
    case presented(PresentationAction<Room.Action>)
    case optional(Room.Action)
    case lamp(PresentationAction<LampFeature.Action>)
  }

  private var rooms: Room.Features {
    Room.Features(visitor: Visitor(), leaf: LeafFeature(), alert: Alert())
  }

  var body: some ReducerOf<Self> {
    Reduce { state, action in
      switch action {
      case .shown(let room): state.presented = room
      case .opened(let room): state.optional = room
      case .lit(let lamp): state.lamp = lamp
      case .waited: return .run { _ in await waitForCancellation() }.cancellable(id: 1)
      case .cancelled: return .cancel(id: 1)
      case .presented, .optional, .lamp: break
      }
      return .none
    }
    .presents(\.presented, action: \.presented) { rooms }
    .ifLet(\.optional, action: \.optional) { rooms }
    .presents(\.lamp, action: \.lamp) { LampFeature() }
  }
}

/// A feature that presents a lobby.
@Reducer
private struct Manor {
  @ObservableState
  struct State: Equatable, Sendable {
    var lobby: Lobby.State?
  }

  enum Action: Sendable {
    case entered
    case invited
    case lobby(PresentationAction<Lobby.Action>)
  }

  var body: some ReducerOf<Self> {
    Reduce { state, action in
      switch action {
      case .entered: state.lobby = Lobby.State()
      case .invited: state.lobby?.presented = .visitor(Visitor.State(id: 9))
      case .lobby: break
      }
      return .none
    }
    .presents(\.lobby, action: \.lobby) { Lobby() }
  }
}

/// A feature that presents a feature of the same type.
@Reducer
private struct Level {
  @ObservableState
  struct State: Equatable, Sendable {
    var below: Below?

    var depth: Int {
      guard case .level(let level) = below else { return 0 }
      return 1 + level.depth
    }
  }

  @ObservableState
  indirect enum Below: Equatable, Sendable {
    case level(State)
  }

  indirect enum Action: Equatable, Sendable {
    case wentDown
    case waited
    case left
    case below(PresentationAction<Action>)

    /// Returns the action of the level at this depth.
    static func inside(_ depth: Int, _ action: Action) -> Action {
      (0..<depth).reduce(action) { action, _ in .below(.presented(action)) }
    }
  }

  var body: some ReducerOf<Self> {
    Reduce { state, action in
      switch action {
      case .wentDown: state.below = .level(State())
      case .waited: return .run { _ in await waitForCancellation() }
      case .left: return .dismiss
      case .below: break
      }
      return .none
    }
    .presents(\.below, action: \.below) { BelowFeature() }
  }
}

@Reducer
private struct BelowFeature {
  typealias State = Level.Below
  typealias Action = Level.Action

  let level = Level().prepare()

  func reduce(into state: inout Level.Below, action: Level.Action) -> Effect<Level.Action> {
    Level.Below.CaseLenses.Case_level.modify(&state) { level.reduce(into: &$0, action: action) }
      ?? .none
  }
}
