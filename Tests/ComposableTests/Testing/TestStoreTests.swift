import Composable
import ComposableTesting
import Testing

@Reducer
struct Counter {
  @ObservableState
  struct State: Equatable, Sendable {
    var count = 0
    var isRunning = false
  }

  enum Action: Equatable, Sendable {
    case incremented
    case startTapped
    case stopTapped
    case ticked
    case pinged
    case doubled(Int)
  }

  let clock: TestClock

  func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .incremented:
      state.count += 1
      return .none
    case .startTapped:
      state.isRunning = true
      return .run(name: "timer") { [clock] send in
        while true {
          try await clock.sleep(for: .seconds(1))
          send(.ticked)
        }
      }.cancellable(id: "timer")
    case .stopTapped:
      state.isRunning = false
      return .cancel(id: "timer")
    case .ticked:
      state.count += 1
      return .none
    case .pinged:
      return .merge(.send(.doubled(1)), .send(.doubled(2)))
    case .doubled(let value):
      state.count += 2 * value
      return .none
    }
  }
}

struct TestStoreTests {
  let clock = TestClock()

  func makeStore() -> TestStore<Counter.State, Counter.Action> {
    TestStore(initialState: Counter.State(), clock: clock) { Counter(clock: clock) }
  }

  @Test func `A timer ticks as the clock advances and stops when it is cancelled`() async {
    let store = makeStore()
    await store.send(.startTapped) { $0.isRunning = true }
    clock.advance(by: .seconds(2))
    await store.receive(.ticked) { $0.count = 1 }
    await store.receive(\.ticked) { $0.count = 2 }
    await store.send(.stopTapped) { $0.isRunning = false }
    clock.advance(by: .seconds(5))
    await store.finish()
    await Task.yield()
  }

  @Test func `Actions of effects wait until they are received`() async {
    let store = makeStore()
    await store.send(.pinged)
    #expect(store.state.count == 0)
    await store.receive(.doubled(1)) { $0.count = 2 }
    await store.receive(\.doubled, 2) { $0.count = 6 }
  }

  @Test func `A wrong expectation, an unreceived action and a running effect fail`() async {
    await withKnownIssue {
      let store = makeStore()
      await store.send(.incremented) { $0.count = 2 }
      _ = store
    } matching: { issue in
      issue.comments.contains { $0.rawValue.contains("State is not what was expected") }
    }
    await withKnownIssue {
      let store = makeStore()
      await store.send(.pinged)
    } matching: { issue in
      issue.comments.contains { $0.rawValue.contains("The store received unexpected actions") }
    }
    await withKnownIssue {
      let store = makeStore()
      await store.send(.startTapped) { $0.isRunning = true }
    } matching: { issue in
      issue.comments.contains { $0.rawValue.contains("still in flight: timer") }
    }
  }

  @Test func `Without exhaustivity only what is mentioned is compared`() async {
    let store = makeStore()
    store.exhaustivity = .off
    await store.send(.startTapped)
    await store.send(.pinged)
    await store.receive(.doubled(2)) { $0.count = 6 }
    await store.send(.incremented) { $0.count += 1 }
  }
}
