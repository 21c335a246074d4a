import Composable
import ComposableTesting
import Testing

/// Tests the failures that a test store reports.
struct TestStoreFailureTests {
  let clock = TestClock()

  func makeStore() -> TestStore<Counter.State, Counter.Action> {
    TestStore(initialState: Counter.State(), clock: clock) { Counter(clock: clock) }
  }

  @Test func `an unexpected change is a failure`() async {
    let store = makeStore()
    await expectFailure("The state was not expected to change") { await store.send(.incremented) }
    await expectFailure("−   count: 3") { await store.send(.incremented) { $0.count = 3 } }
    await expectFailure("+   count: 3") { await store.send(.incremented) { $0.count = 4 } }
  }

  @Test func `an expected change that does not happen is a failure`() async {
    let store = makeStore()
    await expectFailure("Expected the state to change") { await store.send(.doubled(0)) { _ in } }
  }

  @Test func `an expectation that throws is a failure`() async {
    let store = makeStore()
    await expectFailure("The expectation threw an error") {
      await store.send(.doubled(0)) { _ in throw CancellationError() }
    }
  }

  @Test func `sending an action before receiving the waiting actions is a failure`() async {
    let store = makeStore()
    await store.send(.pinged)
    await expectFailure("Must receive 2 actions before sending another one") {
      await store.send(.doubled(0))
    }
    await store.skipReceivedActions()
  }

  @Test func `receiving an action other than the expected one is a failure`() async {
    let store = makeStore()
    await store.send(.pinged)
    await expectFailure("Received an unexpected action") { await store.receive(.doubled(5)) }
    #expect(store.state.count == 2, "the action is reduced so that the test can continue")
    await expectFailure("Received an unexpected action") { await store.receive(\.ticked) }
    #expect(store.state.count == 6)
  }

  @Test func `receiving an action with another payload is a failure`() async {
    let store = makeStore()
    await store.send(.pinged)
    await expectFailure("doubled(3)") { await store.receive(\.doubled, 3) { $0.count = 2 } }
    #expect(store.state.count == 2)
    await expectFailure("doubled(2)") { await store.receive(\.doubled, 4) }
  }

  @Test func `an action that is not Equatable can be received by a condition`() async {
    let store = TestStore(initialState: Zoo(), clock: clock) {
      Reduce<Zoo, ZooFeature.Action> { zoo, action in
        switch action {
        case .changed: return .merge(.send(.child(.counted(2))), .send(.child(.counted(3))))
        case .child(.counted(let amount)): zoo.child.count += amount
        default: break
        }
        return .none
      }
    }
    func counts(_ amount: Int) -> (ZooFeature.Action) -> Bool {
      { if case .child(.counted(amount)) = $0 { true } else { false } }
    }
    await store.send(.changed { _ in })
    await store.receive(where: counts(2)) { $0.child.count = 2 }
    await expectFailure("Received an unexpected action; expected an action that matches") {
      await store.receive(where: counts(4))
    }
    await store.finish()
  }

  @Test func `a received action that does not make the expected change is a failure`() async {
    let store = TestStore(initialState: Leaf(), clock: clock) {
      Reduce<Leaf, LeafFeature.Action> { _, action in
        action == .ignored ? .merge(.send(.sleptOver), .run { $0(.sleptOver) }) : .none
      }
    }
    await store.send(.ignored)
    await expectFailure("Expected the state to change") { await store.receive(.sleptOver) { _ in } }
    await expectFailure("The state is not as expected") {
      await store.receive(\.sleptOver) { $0.count = 1 }
    }
  }

  @Test func `receiving an action that never arrives is a failure`() async {
    let store = makeStore()
    await expectFailure("No effect is in flight") { await store.receive(.ticked) }
    await store.send(.startTapped) { $0.isRunning = true }
    await expectFailure("In flight: timer. Does a clock need to be advanced?") {
      await store.receive(\.ticked)
    }
    await store.skipInFlightEffects()
  }

  @Test func `a received action that makes an unexpected change is a failure`() async {
    let store = makeStore()
    await store.send(.pinged)
    await expectFailure("The state was not expected to change") { await store.receive(.doubled(1)) }
    await expectFailure("The state is not as expected") {
      await store.receive(\.doubled, 2) { $0.count = 0 }
    }
  }

  @Test func `an effect that still runs at the end of a test is a failure`() async {
    let store = makeStore()
    let effects = await store.send(.startTapped) { $0.isRunning = true }
    #expect(effects.isRunning)
    await expectFailure("still in flight") { await effects.finish() }
    await expectFailure("An effect is still in flight: timer") { await store.finish() }
    await effects.cancel()
    #expect(!effects.isRunning)
    await store.finish()
  }

  @Test func `skipping is a failure if there is nothing to skip`() async {
    let store = makeStore()
    await expectFailure("no received actions to skip") { await store.skipReceivedActions() }
    await expectFailure("no effects in flight to skip") { await store.skipInFlightEffects() }
    await store.skipReceivedActions(strict: false)
    await store.skipInFlightEffects(strict: false)
  }

  @Test func `skipped actions are reduced and skipped effects are cancelled`() async {
    let store = makeStore()
    await store.send(.pinged)
    await store.skipReceivedActions()
    #expect(store.state.count == 6)
    await store.send(.startTapped) { $0.isRunning = true }
    await store.skipInFlightEffects()
    #expect(clock.sleeperCount == 0)
  }

  @Test func `an action for an absent child is a failure`() async {
    let store = TestStore(initialState: Zoo(), clock: clock) { ZooFeature() }
    await expectFailure("An action was sent for a child that does not exist") {
      await store.send(.optional(.counted(1)))
    }
  }

  @Test func `an uncaught error of an effect is a failure`() async {
    let store = TestStore(initialState: Leaf(), clock: clock) {
      Reduce<Leaf, LeafFeature.Action> { _, _ in .run(name: "upload") { _ in throw Refused() } }
    }
    await expectFailure("The effect 'upload' ended with an error that it does not catch") {
      await store.send(.ignored)
    }
  }

  @Test func `a change that is not recorded is a failure`() async {
    let store = TestStore(initialState: Sly(), clock: clock) {
      Reduce<Sly, Bool> { state, isSly in
        if isSly { state._count += 1 } else { state.count += 1 }
        return .none
      }
    }
    await store.send(false) { $0.count = 1 }
    await expectFailure("Fields changed without being recorded, so no observer would be called: co")
    { await store.send(true) { $0.count = 2 } }
  }

  @Test func `the assertions of a non-exhaustive test must be correct`() async {
    let store = makeStore()
    store.exhaustivity = .off
    await expectFailure("The state is not as expected") {
      await store.send(.startTapped) { $0.count = 7 }
    }
    await expectFailure("Expected to receive") { await store.receive(.doubled(1)) }
    await store.send(.pinged)
    await store.receive(where: { $0 == .doubled(2) }) { $0.isRunning = true }
    #expect(store.state.count == 6)
  }
}

private struct Refused: Error {}

@ObservableState
private struct Sly: Equatable, Sendable {
  var count = 0
}

/// Runs `body`, which must record exactly one failure, and that failure must contain `text`.
func expectFailure(
  _ text: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async -> Void
) async {
  await withKnownIssue(sourceLocation: sourceLocation) {
    await body()
  } matching: { issue in
    issue.comments.contains { $0.rawValue.contains(text) }
  }
}
