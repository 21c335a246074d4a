import Composable
import ComposableTesting
import Testing

/// A form with bindings, an alert and a stack of screens.
@Reducer
private struct FormFeature {
  @ObservableState
  struct State: Equatable, Sendable {
    var name = ""
    var age = 0
    var isOpen = false
    var changes = 0
    var alert: AlertState<AlertAction>?
    var path = StackState<Guest>()
    var child = Leaf()
  }

  enum AlertAction: Equatable, Sendable { case confirmed }

  enum Action: Equatable, Sendable {
    case binding(BindingAction<State>)
    case deleteTapped
    case pushed(Int)
    case popped
    case alert(PresentationAction<AlertAction>)
    case path(StackAction<GuestFeature.Action>)
    case child(LeafFeature.Action)
    case response(Result<Int, Refused>)
  }

  let clock: TestClock

  var body: some ReducerOf<Self> {
    BindingReducer(action: \.binding)
    Scope(state: \.child, action: \.child) {
      CombineReducers {
        LeafFeature()
        Reduce { state, action in
          if case .counted = action { state.name += "+" }
          return .none
        }
      }
    }
    CombineReducers {
      Reduce { state, action in
        switch action {
        case .binding(let binding): if binding.sets(\.name) { state.changes += 1 }
        case .deleteTapped:
          state.alert = AlertState(
            "Delete it?", buttons: [ButtonState("Delete", role: .destructive, action: .confirmed)])
        case .alert(.presented(.confirmed)): state.name = ""
        case .pushed(let id): state.path.push(Guest(id: id))
        case .popped: state.path.pop()
        case .response(.success(let age)): state.age = age
        case .alert, .path, .child, .response: break
        }
        return .none
      }
    }
    .presents(\.alert, action: \.alert) { Alert() }
    .forEach(\.path, action: \.path) { GuestFeature(clock: clock) }
    .onChange(of: \.age) { old, new, state, _ in
      state.changes += new - old
      return .none
    }
  }
}

private struct Refused: Error, Equatable {}

struct CompositionFormTests {
  let clock = TestClock()

  private func makeStore() -> TestStore<FormFeature.State, FormFeature.Action> {
    TestStore(initialState: FormFeature.State(), clock: clock) { FormFeature(clock: clock) }
  }

  @Test func `a binding action sets its field and can be matched`() async {
    let store = makeStore()
    await store.send(.binding(.set(\.name, "Ada"))) {
      $0.name = "Ada"
      $0.changes = 1
    }
    await store.send(.binding(.set(\.isOpen, true))) { $0.isOpen = true }
    let set = BindingAction<FormFeature.State>.set(\.name, "Ada")
    #expect(set == .set(\.name, "Ada") && set != .set(\.name, "Bob") && set != .set(\.age, 1))
    #expect("\(set)" == ".set(\\.name, Ada)")
  }

  @Test func `each button of an alert performs its action and then dismisses the alert`() async {
    let store = makeStore()
    await store.send(.binding(.set(\.name, "Ada"))) {
      $0.name = "Ada"
      $0.changes = 1
    }
    await store.send(.deleteTapped) {
      $0.alert = AlertState(
        "Delete it?", buttons: [ButtonState("Delete", role: .destructive, action: .confirmed)])
    }
    await store.send(\.alert.presented, .confirmed) { $0.name = "" }
    await store.receive(\.alert.dismiss) { $0.alert = nil }
    await store.finish()
  }

  @Test func `screens of a stack are numbered, reduce, and end their effects when popped`() async {
    let store = makeStore()
    await store.send(.pushed(7)) { $0.path.push(Guest(id: 7)) }
    await store.send(.pushed(8)) { $0.path.push(Guest(id: 8)) }
    await store.send(\.path[id: 1].asked)
    clock.advance(by: .seconds(1))
    await store.receive(\.path[id: 1].replied) { $0.path[id: 1]?.replies = 1 }
    await store.send(\.path[id: 1].waited)
    await store.send(.popped) { $0.path.pop() }
    #expect(store.state.path.ids == [0])
    await store.finish()
    var path = StackState<Int>()
    for number in 0..<4 { path.push(number) }
    path.pop(to: 1)
    #expect(path.ids == [0, 1] && path.pop() == 1 && path.pop() == 0 && path.pop() == nil)
  }

  @Test func `onChange of a small value passes the old and the new value`() async {
    let store = makeStore()
    await store.send(\.response.success, 30) {
      $0.age = 30
      $0.changes = 30
    }
    await store.send(\.response.success, 25) {
      $0.age = 25
      $0.changes = 25
    }
    await store.send(\.response.success, 25)
    await store.send(\.response.failure, Refused())
  }

  @Test func `several reducers can form one child`() async {
    let store = makeStore()
    await store.send(\.child.counted, 2) {
      $0.child.count = 2
      $0.child.name = "+"
    }
  }

  @Test func `a part of a composition prints its changes`() {
    var lines: [String] = []
    let store = Store(initialState: Zoo(), lane: DirectLane()) {
      ReducerSteps<Zoo, ZooFeature.Action>.make {
        Reduce { state, action in
          if case .changed(let change) = action { change(&state) }
          return .none
        }
        ._printChanges { lines.append($0) }
      }
    }
    store.change { $0.number = 3 }
    store.change { _ in }
    #expect(lines == ["changed: number", "changed: (nothing)"])
  }

  @Test func `assert of a test store checks the current state`() async {
    let store = makeStore()
    store.exhaustivity = .off(showSkippedAssertions: true)
    await store.send(.binding(.set(\.age, 3)))
    store.assert { $0.age = 3 }
    await expectFailure("The state is not as expected") { store.assert { $0.age = 4 } }
  }

  @Test(.timeLimit(.minutes(1)))
  func `a test can receive an action of an effect that waits in real time`()
    async
  {
    let store = TestStore(initialState: Leaf()) {
      Reduce<Leaf, LeafFeature.Action> { state, action in
        if case .counted(let amount) = action { state.count += amount }
        guard case .ignored = action else { return .none }
        return .run { send in
          send(await Task.detached { LeafFeature.Action.counted(4) }.value)
        }
      }
    }
    await store.send(.ignored)
    await store.receive(.counted(4), timeout: .seconds(30)) { $0.count = 4 }
    await store.finish(timeout: .seconds(30))
  }

  @Test func `on an immediate clock no sleep takes time`() async {
    let clock = ImmediateClock()
    let store = TestStore(initialState: Leaf()) {
      Reduce<Leaf, LeafFeature.Action> { state, action in
        if case .counted(let amount) = action { state.count += amount }
        guard case .ignored = action else { return .none }
        return .run { send in
          try await clock.sleep(for: .seconds(3_600))
          send(.counted(1))
        }
      }
    }
    await store.send(.ignored)
    await store.receive(\.counted) { $0.count = 1 }
    #expect(clock.now == ImmediateClock.Instant(offset: .seconds(3_600)))
  }
}
