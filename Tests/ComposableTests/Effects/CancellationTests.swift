import Composable
import ComposableTesting
import Testing

/// Tests identifiers around effects, and combinations of effects.
struct CancellationTests {
  let lane = ManualLane()
  let transcript = Transcript()

  private enum Step: Equatable, Sendable { case began, cancelled(Int), told(String) }

  private func makeStore(
    _ effect: @escaping (Effect<Step>) -> Effect<Step>
  ) -> Store<Leaf, Step> {
    Store(initialState: Leaf(), lane: lane) {
      Reduce<Leaf, Step> { [transcript] state, step in
        switch step {
        case .began:
          state.count += 1
          return effect(.run(name: "\(state.count)") { _ in await waitForCancellation() })
        case .cancelled(let id): return .cancel(id: id)
        case .told(let text):
          transcript.add(text)
          return .none
        }
      }
    }
  }

  @Test func `marking an effect twice with an identifier is the same as marking it once`() {
    let store = makeStore { $0.cancellable(id: 1).cancellable(id: 1) }
    store.send(.began)
    store.send(.began)
    #expect(store.runningEffects == 2)
    store.send(.cancelled(1))
    #expect(store.runningEffects == 0)
    store.send(.began)
    #expect(store.runningEffectNames == ["3"])
  }

  @Test func `cancelInFlight applied several times cancels the previous effect`() {
    let store = makeStore {
      $0.cancellable(id: 1, cancelInFlight: true).cancellable(id: 1, cancelInFlight: true)
        .cancellable(id: 2, cancelInFlight: true)
    }
    for _ in 0..<3 {
      store.send(.began)
      lane.run()
    }
    #expect(store.runningEffectNames == ["3"])
    store.send(.cancelled(2))
    #expect(store.runningEffects == 0)
  }

  @Test
  func `merged effects with a common identifier can still be cancelled by their own identifiers`() {
    let store = makeStore { effect in
      .merge(effect.cancellable(id: 1), effect.cancellable(id: 2), effect).cancellable(id: 3)
    }
    store.send(.began)
    #expect(store.runningEffects == 3)
    store.send(.cancelled(2))
    #expect(store.runningEffects == 2)
    store.send(.cancelled(3))
    #expect(store.runningEffects == 0)
  }

  @Test func `combining empty effects results in an empty effect`() {
    let nothing = Effect<Step>.none
    #expect(Effect<Step>.merge().isNone && Effect.merge(nothing, nothing).isNone)
    #expect(Effect<Step>.concatenate().isNone && Effect.concatenate(nothing, nothing).isNone)
    #expect(nothing.followed(by: nothing).isNone && nothing.map { $0 }.isNone)
    #expect(nothing.cancellable(id: 1).isNone)
    #expect(nothing.throttle(id: 1, for: .seconds(1), clock: TestClock()).isNone)
    let store = makeStore { _ in
      .concatenate(.none, .merge(.none, .send(.told("one"))), .none, .send(.told("two")))
    }
    store.send(.began)
    #expect(transcript.lines == ["one", "two"] && store.startedEffects == 0)
  }

  /// The closure is called to clean up. Actions that it sends are dropped.
  @Test func `a catch closure receives errors, but not the cancellation of its effect`() {
    let store = makeStore { [transcript] _ in
      func effect(_ name: String, _ error: any Error) -> Effect<Step> {
        .run { _ in
          await waitForCancellation()
          throw error
        } catch: { error, send in
          transcript.add("\(name) caught \(error)")
          send(.told("\(name) is still there"))
        }
        .cancellable(id: 1)
      }
      return .merge(effect("first", CancellationError()), effect("second", Broken.halfWritten))
    }
    var failures = 0
    store.onFailure = { _ in failures += 1 }
    store.send(.began)
    lane.run()
    store.send(.cancelled(1))
    lane.run()
    #expect(transcript.lines == ["second caught halfWritten"])
    #expect(failures == 0 && store.runningEffects == 0)
  }

  @Test func `the effects of several reducers in one body run concurrently`() {
    let gate = Gate()
    let store = Store(initialState: Leaf(), lane: lane) {
      ReducerSteps<Leaf, Step>.make {
        for name in ["first", "second"] {
          Reduce { [transcript] _, step in
            if step == .told(name) { transcript.add("told \(name)") }
            guard step == .began else { return .none }
            return .merge(
              .send(.told(name)),
              .run(name: name) { send in
                transcript.add("\(name) runs")
                await gate.wait()
                send(.told(name))
              })
          }
        }
      }
    }
    store.send(.began)
    #expect(transcript.lines == ["told first", "told second"])
    lane.run()
    #expect(transcript.lines.dropFirst(2).map { $0 } == ["first runs", "second runs"])
    #expect(store.runningEffectNames == ["first", "second"])
    gate.open()
    lane.run()
    #expect(transcript.lines.dropFirst(4).map { $0 } == ["told first", "told second"])
    #expect(store.runningEffects == 0)
  }
}

private enum Broken: Error { case halfWritten }
