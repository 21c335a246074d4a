import Composable
import ComposableTesting
import IssueReporting
import Synchronization
import Testing

/// Tests non-exhaustive tests: omitted assertions are not failures, and are shown on request.
struct NonExhaustiveTests {
  let clock = TestClock()

  private func makeStore(
    _ exhaustivity: Exhaustivity = .off
  ) -> TestStore<Counter.State, Counter.Action> {
    let store = TestStore(initialState: Counter.State(), clock: clock) { Counter(clock: clock) }
    store.exhaustivity = exhaustivity
    return store
  }

  /// Returns the reported issues of a test with a store that is silent, and with a store that shows
  /// what is skipped.
  private func told(
    _ body: (TestStore<Counter.State, Counter.Action>) async -> Void
  ) async -> (silent: [String], shown: [String]) {
    (
      await issues { await body(makeStore()) },
      await issues { await body(makeStore(.off(showSkippedAssertions: true))) }
    )
  }

  @Test(.timeLimit(.minutes(1)))
  func `receiving with a timeout skips actions that do not match`() async {
    let gate = Gate()
    let store = TestStore(initialState: Leaf()) {
      Reduce<Leaf, LeafFeature.Action> { state, action in
        if case .counted(let amount) = action { state.count += amount }
        guard case .ignored = action else { return .none }
        return .run { send in
          send(.counted(1))
          await gate.wait()
          send(.counted(2))
        }
      }
    }
    store.exhaustivity = .off
    await store.send(.ignored)
    // The second action is sent after the first one was read.
    let isSecond = { (action: LeafFeature.Action) in
      gate.open()
      return action == .counted(2)
    }
    await store.receive(where: isSecond, timeout: .seconds(30)) { $0.count = 3 }
    await store.finish()
  }

  @Test func `unreceived actions are reduced before the next action is sent`() async {
    let told = await told { store in
      await store.send(.pinged)
      await store.send(.incremented) { $0.count = 7 }
    }
    #expect(told.silent == [])
    #expect(told.shown.count == 1)
    #expect(told.shown.first?.contains("Skipped received actions") == true)
    #expect(told.shown.first?.contains("doubled(1)") == true)
    #expect(told.shown.first?.contains("doubled(2)") == true)
  }

  @Test func `a test can become non-exhaustive while actions wait`() async {
    let store = makeStore(.on)
    await store.send(.pinged)
    store.exhaustivity = .off
    await store.send(.incremented) { $0.count = 7 }
    store.exhaustivity = .on
    await store.send(.incremented) { $0.count = 8 }
    await store.finish()
  }

  @Test func `a non-exhaustive test may end with unreceived actions`() async {
    let told = await told { await $0.send(.pinged) }
    #expect(told.silent == [])
    #expect(told.shown.count == 1)
    #expect(told.shown.first?.contains("The store received unexpected actions") == true)
  }

  @Test func `a non-exhaustive test may end with running effects`() async {
    let told = await told { await $0.send(.startTapped) { $0.isRunning = true } }
    #expect(told.silent == [])
    #expect(told.shown.count == 1)
    #expect(told.shown.first?.contains("An effect is still in flight: timer") == true)
    let finished = await self.told { store in
      await store.send(.startTapped) { $0.isRunning = true }
      await store.finish()
    }
    #expect(finished.silent == [] && finished.shown.count == 1, "not reported again at the end")
  }

  @Test func `a non-exhaustive receive skips the actions before the expected action`() async {
    let told = await told { store in
      await store.send(.pinged)
      await store.receive(.doubled(2)) { $0.count = 6 }
    }
    #expect(told.silent == [])
    #expect(told.shown.count == 1)
    #expect(told.shown.first?.contains("doubled(1)") == true)
    #expect(told.shown.first?.contains("doubled(2)") == false)
  }

  @Test func `actions and effects that a test skips explicitly are shown`() async {
    let actions = await told { store in
      await store.send(.pinged)
      await store.skipReceivedActions()
    }
    #expect(actions.silent == [] && actions.shown.count == 1)
    #expect(actions.shown.first?.contains("Skipped received actions") == true)
    let effects = await told { store in
      await store.send(.startTapped) { $0.isRunning = true }
      await store.skipInFlightEffects()
    }
    #expect(effects.silent == [])
    #expect(effects.shown == ["Cancelled effects in flight: timer"])
  }

  @Test func `an assertion may be empty, and the changes that it omits are shown`() async {
    let told = await told { store in
      await store.send(.doubled(0)) { _ in }
      await store.send(.incremented) { _ in }
      await store.send(.incremented) { $0.count = 2 }
      // The assertion sets a value that was already set before.
      await store.send(.startTapped) { $0.count = 2 }
      await store.skipInFlightEffects()
    }
    #expect(told.silent == [])
    #expect(told.shown.count == 3)
    #expect(told.shown.first?.contains("Skipped state changes") == true)
    #expect(told.shown.dropFirst().first?.contains("isRunning") == true)
  }

  @Test func `actions that wait to be received remain if the expected action does not arrive`()
    async
  {
    let store = makeStore()
    await store.send(.pinged)
    await expectFailure("Received an unexpected action; expected ticked") {
      await store.receive(\.ticked)
    }
    #expect(store.state.count == 0)
    await store.receive(.doubled(1)) { $0.count = 2 }
  }
}

/// Returns the texts of issues that are reported while `body` runs, including expected issues.
private func issues(_ body: () async -> Void) async -> [String] {
  let collector = IssueCollector()
  await withIssueReporters(IssueReporters.current + [collector]) { await body() }
  return collector.texts.withLock { $0 }
}

private final class IssueCollector: IssueReporter {
  let texts = Mutex<[String]>([])

  func reportIssue(
    _ message: @autoclosure () -> String?, severity: IssueSeverity, fileID: StaticString,
    filePath: StaticString, line: UInt, column: UInt
  ) {
    let text = message() ?? ""
    texts.withLock { $0.append(text) }
  }
}
