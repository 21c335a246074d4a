import Composable
import ComposableTesting
import Testing

/// Tests `dismiss` from a screen of a stack.
struct StackDismissalTests {
  let clock = TestClock()

  private func makeStore() -> TestStore<Stacked.State, Stacked.Action> {
    var state = Stacked.State()
    for count in 0..<3 { state.path.push(Leaf(count: count)) }
    return TestStore(initialState: state, clock: clock) { [clock] in Stacked(clock: clock) }
  }

  @Test func `a screen that dismisses itself is popped with the screens above`() async {
    let store = makeStore()
    await store.send(.path(ElementAction(id: 2, action: .worked))) { $0.seen = [2] }
    await store.send(.path(ElementAction(id: 1, action: .dismissed))) {
      $0.path.pop(to: 0)
      $0.seen = [2, 1]
    }
    await store.finish()
  }

  @Test func `a dismissal can be combined with other effects that take no time`() async {
    let store = makeStore()
    await store.send(.path(ElementAction(id: 2, action: .cancelledAndDismissed))) {
      $0.path.pop()
      $0.seen = [2]
    }
    await store.receive(\.told) { $0.seen = [2, -1] }
    await store.finish()
  }

  @Test func `screens pushed in the same action as a dismissal stay`() async {
    let store = makeStore()
    await store.send(.path(ElementAction(id: 2, action: .replaced))) {
      $0.path.pop()
      $0.path.push(Leaf(count: 9))
      $0.seen = [2]
    }
    await store.finish()
  }

  @Test func `a screen inside a sheet is popped, and the sheet stays`() async {
    let inner = makeStore().state
    let store = TestStore(initialState: Sheeted.State(sheet: inner), clock: clock) { [clock] in
      Sheeted(clock: clock)
    }
    await store.send(.sheet(.presented(.path(ElementAction(id: 2, action: .dismissed))))) {
      $0.sheet?.path.pop()
      $0.sheet?.seen = [2]
    }
    await store.finish()
  }

  @Test func `a dismissal that follows a task in a sequence is reported as a failure`() async {
    let inner = makeStore().state
    let store = Store(initialState: Sheeted.State(sheet: inner), lane: clock.lane) { [clock] in
      Sheeted(clock: clock)
    }
    store.send(.sheet(.presented(.path(ElementAction(id: 2, action: .dismissedLate)))))
    clock.advance(by: .seconds(1))
    #expect(store.failures == 1)
    #expect(store.state.sheet?.path.count == 3)
  }
}

@Reducer
private struct Screen {
  typealias State = Leaf

  enum Action: Equatable, Sendable {
    case worked
    case dismissed
    case dismissedLate
    case cancelledAndDismissed
    case replaced
  }

  let clock: TestClock

  func reduce(into state: inout Leaf, action: Action) -> Effect<Action> {
    switch action {
    case .worked: .run { [clock] _ in try await clock.sleep(for: .seconds(1)) }
    case .dismissed, .replaced: .dismiss
    case .dismissedLate:
      .concatenate(.run { [clock] _ in try await clock.sleep(for: .seconds(1)) }, .dismiss)
    case .cancelledAndDismissed: .concatenate(.cancel(id: 1), .dismiss)
    }
  }
}

@Reducer
private struct Stacked {
  @ObservableState
  struct State: Equatable, Sendable {
    var path = StackState<Leaf>()
    /// The screens that sent an action.
    var seen: [Int] = []
  }

  enum Action: Equatable, Sendable {
    case path(StackAction<Screen.Action>)
    case told
  }

  let clock: TestClock

  var body: some ReducerOf<Self> {
    Reduce { state, action in
      switch action {
      case .told: state.seen.append(-1)
      case .path(let element):
        state.seen.append(state.path[id: element.id]!.count)
        if element.action == .replaced { state.path.push(Leaf(count: 9)) }
        if element.action == .cancelledAndDismissed { return .send(.told) }
      }
      return .none
    }
    .forEach(\.path, action: \.path) { Screen(clock: clock) }
  }
}

@Reducer
private struct Sheeted {
  @ObservableState
  struct State: Equatable, Sendable { var sheet: Stacked.State? }

  enum Action: Equatable, Sendable { case sheet(PresentationAction<Stacked.Action>) }

  let clock: TestClock

  var body: some ReducerOf<Self> {
    Reduce { _, _ in .none }
      .presents(\.sheet, action: \.sheet) { Stacked(clock: clock) }
  }
}
