import Composable
import ComposableTesting
import Testing

/// Tests effects that never wait.
struct EndlessRunTests {
  private enum Step: Sendable { case began, ticked }

  private func makeStore(
    _ effect: Effect<Step>, line: UInt = #line
  ) -> TestStore<Leaf, Step> {
    let store = TestStore(initialState: Leaf()) {
      Reduce<Leaf, Step> { _, step in step == .began ? effect : .none }
    }
    store.lane.turnLimit = 1_000
    return store
  }

  private func failures(_ body: () async -> Void) async -> [String] {
    let messages = Transcript()
    await withKnownIssue {
      await body()
    } matching: {
      messages.add("\($0)")
      return true
    }
    return messages.lines
  }

  @Test(.timeLimit(.minutes(1))) func `an effect that spins is a failure that names the effect`()
    async
  {
    let named = await failures {
      let store = makeStore(
        .run(name: "poll") { _ in while !Task.isCancelled { await Task.yield() } })
      await store.send(.began)
      await store.finish()
    }
    #expect(named.count == 1 && named[0].contains("effect poll"), "\(named)")
    let unnamed = await failures {
      let store = makeStore(.run { _ in while !Task.isCancelled { await Task.yield() } })
      await store.send(.began)
      store.clock.advance(by: .seconds(1))
      await store.finish()
    }
    #expect(
      unnamed.count == 1 && unnamed[0].contains("ComposableTests/EndlessRunTests.swift:"),
      "\(unnamed)")
  }

  @Test(.timeLimit(.minutes(1))) func `an effect that sends without a pause is a failure`() async {
    let messages = await failures {
      let store = makeStore(
        .run(name: "ticker") { send in
          while !Task.isCancelled {
            send(.ticked)
            await Task.yield()
          }
        })
      store.exhaustivity = .off
      await store.send(.began)
      await store.finish()
    }
    #expect(messages.count == 1 && messages[0].contains("effect ticker"), "\(messages)")
  }

  @Test(.timeLimit(.minutes(1)))
  func `an effect that spins even after its cancellation cannot hang the test`()
    async
  {
    let messages = await failures {
      let store = makeStore(.run(name: "deaf") { _ in while true { await Task.yield() } })
      await store.send(.began)
      #expect(store.lane.isIdle)
      await store.finish()
    }
    #expect(messages.count == 1, "\(messages)")
  }

  @Test func `an effect that takes many turns and ends is not a failure`() async {
    let store = makeStore(.run { _ in for _ in 0..<100 { await Task.yield() } })
    await store.send(.began)
    await store.finish()
  }
}
