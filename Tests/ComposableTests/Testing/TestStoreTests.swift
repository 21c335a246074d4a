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

  @Test func `a timer ticks as the clock advances and stops when it is cancelled`() async {
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

  @Test func `actions of effects are not reduced until the test receives them`() async {
    let store = makeStore()
    await store.send(.pinged)
    #expect(store.state.count == 0)
    await store.receive(.doubled(1)) { $0.count = 2 }
    await store.receive(\.doubled, 2) { $0.count = 6 }
  }

  @Test func `a wrong expectation, an unreceived action and a running effect are failures`() async {
    await withKnownIssue {
      let store = makeStore()
      await store.send(.incremented) { $0.count = 2 }
      _ = store
    } matching: { issue in
      issue.comments.contains { $0.rawValue.contains("The state is not as expected") }
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

  @Test func `a non-exhaustive test compares only the fields that it mentions`() async {
    let store = makeStore()
    store.exhaustivity = .off
    await store.send(.startTapped)
    await store.send(.pinged)
    await store.receive(.doubled(2)) { $0.count = 6 }
    await store.send(.incremented) { $0.count += 1 }
  }

  @Test func `actions are received in the order in which a store reduces them`() async {
    let lane = ManualLane()
    let transcript = Transcript()
    let plain = Store(initialState: Leaf(), lane: lane) { Fork(transcript: transcript) }
    plain.send(.started)
    lane.run()
    let store = TestStore(initialState: Leaf(), clock: clock) { Fork(transcript: Transcript()) }
    await store.send(.started)
    for step in transcript.lines.dropFirst() {
      await store.receive(where: { "\($0)" == step })
    }
    await store.finish()
    #expect(transcript.lines == ["started", "b1", "b2", "b4", "b3", "c1", "c2"])
  }

  @Test func `a test store detects the same failures after finish as before`() async {
    let store = makeStore()
    await store.finish()
    await store.send(.pinged)
    await expectFailure("Must receive 2 actions") {
      await store.send(.incremented) { $0.count = 1 }
    }
    await store.skipReceivedActions()
    await withKnownIssue {
      let store = makeStore()
      await store.finish()
      await store.send(.pinged)
    } matching: { issue in
      issue.comments.contains { $0.rawValue.contains("received unexpected actions") }
    }
  }

  @Test func `awaiting the handle of a send waits for the effects of following actions`() async {
    let clock = clock
    let store = TestStore(initialState: Leaf(), clock: clock) {
      Reduce<Leaf, LeafFeature.Action> { _, action in
        switch action {
        case .ignored: .run { $0(.slept(id: 1)) }
        case .slept: .run(name: "late") { _ in try await clock.sleep(for: .seconds(9)) }
        case .named(let name):
          .run(name: name) { _ in try await clock.sleep(for: .seconds(9)) }
            .debounce(id: "typing", for: .seconds(1), clock: clock)
        default: .none
        }
      }
    }
    let cascade = await store.send(.ignored)
    await store.receive(.slept(id: 1))
    #expect(cascade.isRunning)
    await cascade.cancel()
    #expect(!cascade.isRunning && clock.sleeperCount == 0)
    let typing = await store.send(.named("search"))
    clock.advance(by: .seconds(2))
    #expect(typing.isRunning)
    await typing.cancel()
    #expect(!typing.isRunning && clock.sleeperCount == 0)
    await store.finish()
  }

  @Test(.timeLimit(.minutes(1))) func `the effects of a send can be given real time to end`() async
  {
    let store = TestStore(initialState: Leaf(), clock: clock) {
      Reduce<Leaf, LeafFeature.Action> { _, _ in
        // Each step waits for another thread, and then for the lane.
        .run { _ in for _ in 0..<50 { await Task.detached {}.value } }
      }
    }
    let effects = await store.send(.ignored)
    await effects.finish(timeout: .seconds(30))
    #expect(!effects.isRunning)
    await store.finish()
  }
}

/// An effect that sends two actions, the first of which has follow-up actions.
private struct Fork: Reducer {
  enum Action: Sendable { case started, b1, b2, b3, b4, c1, c2 }

  typealias State = Leaf
  typealias Prepared = CountingReducer<Fork>

  let transcript: Transcript

  func reduce(into state: inout Leaf, action: Action) -> Effect<Action> {
    transcript.add("\(action)")
    return
      switch action
    {
    case .started:
      .run { send in
        send(.b1)
        send(.c1)
      }
    case .b1: .merge(.send(.b2), .send(.b4), .send(.b3))
    case .c1: .send(.c2)
    default: .none
    }
  }
}
