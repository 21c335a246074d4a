import Composable
import ComposableTesting
import IssueReporting
import Synchronization
import Testing

/// Tests that say only what they are about: what they leave out passes, and is shown on request.
struct NonExhaustiveTests {
  let clock = TestClock()

  private func makeStore(
    _ exhaustivity: Exhaustivity = .off
  ) -> TestStore<Counter.State, Counter.Action> {
    let store = TestStore(initialState: Counter.State(), clock: clock) { Counter(clock: clock) }
    store.exhaustivity = exhaustivity
    return store
  }

  /// What is told of a test, by a store that keeps silent, and by one that shows what is skipped.
  private func told(
    _ body: (TestStore<Counter.State, Counter.Action>) async -> Void
  ) async -> (silent: [String], shown: [String]) {
    (
      await issues { await body(makeStore()) },
      await issues { await body(makeStore(.off(showSkippedAssertions: true))) }
    )
  }

  @Test(.timeLimit(.minutes(1)))
  func `a receive with a timeout waits past actions that do not match`() async {
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
    // The second one is sent after somebody has looked at the first.
    let isSecond = { (action: LeafFeature.Action) in
      gate.open()
      return action == .counted(2)
    }
    await store.receive(where: isSecond, timeout: .seconds(30)) { $0.count = 3 }
    await store.finish()
  }

  @Test func `what was not received is reduced before the next action is sent`() async {
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

  @Test func `a test may cease to be exhaustive while actions wait`() async {
    let store = makeStore(.on)
    await store.send(.pinged)
    store.exhaustivity = .off
    await store.send(.incremented) { $0.count = 7 }
    store.exhaustivity = .on
    await store.send(.incremented) { $0.count = 8 }
    await store.finish()
  }

  @Test func `a test ends with actions that were not received`() async {
    let told = await told { await $0.send(.pinged) }
    #expect(told.silent == [])
    #expect(told.shown.count == 1)
    #expect(told.shown.first?.contains("The store received unexpected actions") == true)
  }

  @Test func `a test ends with effects that run`() async {
    let told = await told { await $0.send(.startTapped) { $0.isRunning = true } }
    #expect(told.silent == [])
    #expect(told.shown.count == 1)
    #expect(told.shown.first?.contains("An effect is still in flight: timer") == true)
    let finished = await self.told { store in
      await store.send(.startTapped) { $0.isRunning = true }
      await store.finish()
    }
    #expect(finished.silent == [] && finished.shown.count == 1, "not told again at the end")
  }

  @Test func `actions in front of the one that is received are skipped`() async {
    let told = await told { store in
      await store.send(.pinged)
      await store.receive(.doubled(2)) { $0.count = 6 }
    }
    #expect(told.silent == [])
    #expect(told.shown.count == 1)
    #expect(told.shown.first?.contains("doubled(1)") == true)
    #expect(told.shown.first?.contains("doubled(2)") == false)
  }

  @Test func `what is skipped on purpose is shown as well`() async {
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

  @Test func `an assertion may change nothing, and what it leaves out is shown`() async {
    let told = await told { store in
      await store.send(.doubled(0)) { _ in }
      await store.send(.incremented) { _ in }
      await store.send(.incremented) { $0.count = 2 }
      // It mentions what was so before.
      await store.send(.startTapped) { $0.count = 2 }
      await store.skipInFlightEffects()
    }
    #expect(told.silent == [])
    #expect(told.shown.count == 3)
    #expect(told.shown.first?.contains("Skipped state changes") == true)
    #expect(told.shown.dropFirst().first?.contains("isRunning") == true)
  }

  @Test func `an action that does not come leaves those that wait`() async {
    let store = makeStore()
    await store.send(.pinged)
    await expectFailure("Received an unexpected action; expected ticked") {
      await store.receive(\.ticked)
    }
    #expect(store.state.count == 0)
    await store.receive(.doubled(1)) { $0.count = 2 }
  }
}

/// The texts of what is reported while `body` runs, also of issues that are expected.
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
