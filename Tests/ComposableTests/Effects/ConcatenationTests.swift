import Composable
import ComposableTesting
import Testing

/// Tests when the next part of a `concatenate` begins, for different kinds of parts.
struct ConcatenationTests {
  let clock = TestClock()

  /// Returns a store whose first action has the effect `effect`, and the list of reduced actions.
  private func actions(
    of effect: (TestClock) -> Effect<Step>, _ drive: (Store<Leaf, Step>) -> Void
  ) -> [Step] {
    let steps = Steps()
    let start = effect(clock)
    let store = Store(initialState: Leaf(), lane: clock.lane) {
      Reduce<Leaf, Step> { _, step in
        switch step {
        case .began: return start
        case .cancelled(let id): return .cancel(id: id)
        case .got:
          steps.all.append(step)
          return .none
        }
      }
    }
    store.send(.began)
    clock.lane.run()
    drive(store)
    #expect(store.runningEffects == 0)
    return steps.all
  }

  private final class Steps { var all: [Step] = [] }

  enum Step: Equatable, Sendable {
    case began
    case got(Int)
    case cancelled(String)
  }

  private static func work(_ number: Int, _ seconds: Int, _ clock: TestClock) -> Effect<Step> {
    .run(name: "\(number)") { send in
      try await clock.sleep(for: .seconds(seconds))
      send(.got(number))
    }
  }

  @Test func `a sequence of effects waits for a debounced part`() {
    let got = actions(
      of: { clock in
        .concatenate(
          .run { $0(.got(1)) }.debounce(id: 1, for: .seconds(1), clock: clock), .send(.got(2)))
      },
      { _ in clock.advance(by: .seconds(1)) })
    #expect(got == [.got(1), .got(2)])
  }

  @Test func `a sequence of effects waits for the effects of children`() {
    let store = Store(initialState: Trunk.State(), lane: clock.lane) { [clock] in
      Trunk(clock: clock)
    }
    let log = Calls()
    store.onAction { if let (place, token) = $0.told { log.record("\(place) \(token)") } }
    store.send(
      .perform(
        .concatenate([
          .element(1, .run(.init(told: .init(token: 1), delay: 1_000))),
          .send(.init(token: 2)),
        ])))
    clock.lane.run()
    #expect(log.taken() == [])
    clock.advance(by: .seconds(1))
    #expect(log.taken() == ["twig(1) 1", "trunk 2"])
  }

  @Test func `a part of a sequence can cancel effects that were in flight before the part began`() {
    let got = actions(
      of: { clock in
        .concatenate(
          Self.work(1, 1, clock).cancellable(id: "x", cancelInFlight: true), .send(.got(2)))
      },
      { store in
        clock.advance(by: .milliseconds(500))
        store.send(.began)
        clock.advance(by: .milliseconds(700))
        #expect(store.runningEffectNames == ["1"], "the first sequence ended")
        clock.advance(by: .seconds(1))
      })
    #expect(got == [.got(1), .got(2)])
  }

  @Test func `each part of a sequence keeps its own identifiers`() {
    let parts: (TestClock) -> Effect<Step> = { clock in
      .concatenate(
        Self.work(1, 1, clock).cancellable(id: "one"),
        Self.work(2, 1, clock).cancellable(id: "two"),
        .send(.got(3)))
    }
    let stopped = actions(of: parts) { store in
      clock.advance(by: .milliseconds(1_500))
      store.send(.cancelled("two"))
    }
    #expect(stopped == [.got(1)])
    let unharmed = actions(of: parts) { store in
      store.send(.cancelled("two"))
      clock.advance(by: .milliseconds(1_500))
      store.send(.cancelled("one"))
      clock.advance(by: .milliseconds(500))
    }
    #expect(
      unharmed == [.got(1), .got(2), .got(3)], "both effects are cancelled by their identifiers")
  }

  @Test func `a part of a sequence may be a cancellation`() {
    let got = actions(
      of: { clock in
        .merge(
          Self.work(1, 3, clock).cancellable(id: "x"),
          .concatenate(Self.work(2, 1, clock), .cancel(id: "x"), .send(.got(3))))
      },
      { store in
        clock.advance(by: .seconds(1))
        #expect(store.runningEffects == 0)
      })
    #expect(got == [.got(2), .got(3)])
  }

  @Test
  func `cancelling one effect of a part leaves its other effects running but ends the sequence`() {
    let got = actions(
      of: { clock in
        .concatenate(
          .merge(Self.work(1, 2, clock).cancellable(id: "x"), Self.work(2, 3, clock)),
          .send(.got(3)))
      },
      { store in
        store.send(.cancelled("x"))
        clock.advance(by: .seconds(3))
      })
    #expect(got == [.got(2)])
  }

  @Test func `a task that throws CancellationError ends its sequence without a failure`() {
    let got = actions(
      of: { _ in .concatenate(.run { _ in throw CancellationError() }, .send(.got(1))) },
      { #expect($0.failures == 0) })
    #expect(got == [])
  }

  @Test func `nested sequences of effects run like flat sequences`() {
    let got = actions(
      of: { clock in
        .concatenate(
          .concatenate(Self.work(1, 1, clock), .merge(Self.work(2, 2, clock), .send(.got(3)))),
          .concatenate(.send(.got(4)), Self.work(5, 1, clock)), .send(.got(6)))
      },
      { _ in clock.advance(by: .seconds(4)) })
    #expect(got == [1, 3, 2, 4, 5, 6].map(Step.got))
  }

  @Test func `awaiting the handle of a send waits for the end of a sequence`() async {
    let store = Store(initialState: Leaf(), lane: clock.lane) { [clock] in
      Reduce<Leaf, Step> { _, step in
        step == .began
          ? .concatenate(Self.work(1, 1, clock), Self.work(2, 1, clock), .send(.got(3))) : .none
      }
    }
    let effects = store.start(.began)
    clock.advance(by: .milliseconds(1_500))
    #expect(effects.isRunning && store.runningEffectNames == ["2"])
    effects.cancel()
    #expect(!effects.isRunning && store.runningEffects == 0)
  }

  @Test
  func `cancelling by the identifier of a composed effect also cancels the child effects in it`() {
    let store = Store(initialState: Trunk.State(), lane: clock.lane) { [clock] in
      Trunk(clock: clock)
    }
    let work = EffectTree.run(.init(told: .init(token: 1), delay: 1_000))
    store.send(.perform(.cancellable(.element(0, work), id: 1, cancelInFlight: false)))
    store.send(.perform(.element(1, work)))
    #expect(store.runningEffects == 2)
    store.send(.perform(.cancel(id: 1)))
    #expect(store.runningEffects == 1, "the row without the identifier continues")
    store.cancelEffects()
    clock.lane.run()
  }

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func `a pause or an interval of zero or less ends immediately`(_ length: Duration) {
    let got = actions(
      of: { clock in
        .merge(
          .send(.got(1)).debounce(id: 1, for: length, clock: clock),
          .send(.got(2)).throttle(id: 2, for: length, clock: clock),
          .send(.got(3)).throttle(id: 2, for: length, clock: clock))
      }, { _ in })
    #expect(got == [.got(2), .got(3), .got(1)])
  }
}
