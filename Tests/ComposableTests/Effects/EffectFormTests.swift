import Composable
import ComposableTesting
import Testing

/// Tests forms of effects other than tasks, sends and limits.
struct EffectFormTests {
  let lane = ManualLane()
  let transcript = Transcript()

  private enum Step: Equatable, Sendable { case began, next, told(String), failed }

  private func makeStore(
    _ effect: @escaping (Step) -> Effect<Step>
  ) -> Store<Leaf, Step> {
    Store(initialState: Leaf(), lane: lane) {
      Reduce<Leaf, Step> { [transcript] _, step in
        transcript.add("\(step)")
        return effect(step)
      }
    }
  }

  @Test func `concatenated effects run in sequence`() {
    let gate = Gate()
    let store = makeStore { step in
      guard step == .began else { return .none }
      return .concatenate(
        .send(.told("first")),
        .run(name: "all") { send in
          await gate.wait()
          send(.told("second"))
        },
        .merge(.run { $0(.told("third")) }, .run { $0(.told("fourth")) }), .send(.told("last")))
    }
    store.send(.began)
    lane.run()
    #expect(transcript.lines == ["began", "told(\"first\")"])
    #expect(store.runningEffectNames == ["all"])
    gate.open()
    lane.run()
    #expect(
      transcript.lines.dropFirst(2).map { $0 } == [
        "told(\"second\")", "told(\"third\")", "told(\"fourth\")", "told(\"last\")",
      ])
    #expect(store.runningEffects == 0)
  }

  @Test func `a cancellation or an error prevents the following parts of a sequence`() {
    let store = makeStore { step in
      switch step {
      case .began:
        .concatenate(.run { _ in await waitForCancellation() }, .send(.told("never")))
          .cancellable(id: 1)
      case .next: .cancel(id: 1)
      case .failed:
        .concatenate(
          .run { _ in
            throw Refusal()
          } catch: { _, send in
            send(.told("caught"))
          },
          .run(name: "second") { _ in throw Refusal() }, .send(.told("never")))
      case .told: .none
      }
    }
    var failures = 0
    store.onFailure = { _ in failures += 1 }
    store.send(.began)
    lane.run()
    store.send(.next)
    store.send(.failed)
    lane.run()
    #expect(transcript.lines == ["began", "next", "failed", "told(\"caught\")"])
    #expect(failures == 1 && store.runningEffects == 0)
  }

  @Test func `an asynchronous sequence sends an action per element until it ends`() {
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    let store = makeStore { step in
      step == .began ? .run(sequence: stream) { .told("\($0)") } : .none
    }
    store.send(.began)
    continuation.yield(1)
    lane.run()
    continuation.yield(2)
    lane.run()
    #expect(transcript.lines == ["began", "told(\"1\")", "told(\"2\")"])
    #expect(store.runningEffects == 1)
    continuation.finish()
    lane.run()
    #expect(store.runningEffects == 0)
  }

  @Test func `a parent cancels the effects of a child by their identifier`() {
    var zoo = Zoo()
    for id in 0..<2 { zoo.rows.append(Leaf(), id: id) }
    let store = Store(initialState: zoo, lane: lane) {
      ReducerSteps<Zoo, ZooFeature.Action>.make {
        Scope(state: \.child, action: \.child) { LeafFeature() }
        Reduce { state, action in
          guard case .changed = action else { return .none }
          return .merge(
            .cancel(id: 1, in: \.child), .cancel(id: 1, in: \.rows, element: 0),
            .cancel(id: 1, in: \.optional))
        }
        .forEach(\.rows, action: \.rows) { LeafFeature() }
        .ifLet(\.optional, action: \.optional) { LeafFeature() }
      }
    }
    for id in 0..<2 { store.send(.rows(ElementAction(id: id, action: .slept(id: 1)))) }
    store.send(.child(.slept(id: 1)))
    store.send(.child(.slept(id: 2)))
    #expect(store.runningEffects == 4)
    store.change { _ in }
    #expect(store.runningEffects == 2)
  }

  @Test func `debounced work is cancelled by the next effect and by its identifier`() {
    let clock = TestClock(lane: lane)
    let store = makeStore { step in
      switch step {
      case .began:
        .run(name: "search") { send in
          try await clock.sleep(for: .seconds(5))
          send(.told("found"))
        }.debounce(id: "typing", for: .seconds(1), clock: clock)
      case .next: .cancel(id: "typing")
      case .told, .failed: .none
      }
    }
    store.send(.began)
    clock.advance(by: .seconds(2))
    #expect(store.runningEffectNames == ["search"])
    store.send(.began)
    #expect(store.runningEffectNames == ["debounce"])
    clock.advance(by: .seconds(2))
    #expect(store.runningEffectNames == ["search"])
    store.send(.next)
    #expect(store.runningEffects == 0)
    store.send(.began)
    clock.advance(by: .seconds(6))
    #expect(transcript.lines.last == "told(\"found\")")
  }

  @Test func `awaiting the handle of a debounced send waits for the debounced effect`() {
    let clock = TestClock(lane: lane)
    let store = makeStore { _ in
      .run { _ in try await clock.sleep(for: .seconds(9)) }
        .debounce(id: "typing", for: .seconds(1), clock: clock)
    }
    let first = store.start(.began)
    let second = store.start(.began)
    #expect(!first.isRunning && second.isRunning, "the newest effect waits")
    clock.advance(by: .seconds(2))
    #expect(second.isRunning)
    second.cancel()
    #expect(store.runningEffects == 0)
  }
}

private struct Refusal: Error {}
