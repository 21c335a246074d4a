import Composable
import ComposableTesting
import Testing

struct EffectTests {
  let lane = ManualLane()

  @Test func `actions sent by effects are reduced after the current one, in order`() {
    let transcript = Transcript()
    let store = Store(initialState: Leaf(), lane: lane) {
      Reduce<Leaf, Step> { _, step in
        transcript.add("\(step)")
        switch step {
        case .first: return .merge(.send(.second), .send(.third))
        case .second: return .send(.fourth)
        case .third, .fourth: return .none
        }
      }
    }
    store.send(.first)
    #expect(transcript.lines == ["first", "second", "third", "fourth"])
  }

  @Test func `the frame callback is called once per batch of actions sent by effects`() {
    let store = Store(initialState: Leaf(), lane: lane) {
      Reduce<Leaf, Step> { state, step in
        guard case .first = step else {
          state.count += 1
          return .none
        }
        return .merge(
          .run { send in send(contentsOf: [.second, .third, .fourth]) }, .run { _ in })
      }
    }
    var counts: [Int] = []
    store.onEffectActions = { [unowned store] in counts.append(store.state.count) }
    store.send(.first)
    #expect(counts == [], "sends by the program do not call it")
    lane.run()
    #expect(counts == [3])
  }

  @Test func `a program that logs inputs receives effect actions and reduces them itself`() {
    let store = Store(initialState: Leaf(), lane: lane) {
      Reduce<Leaf, Step> { state, step in
        state.count += 1
        switch step {
        case .first: return .merge(.send(.second), .run { $0(contentsOf: [.third, .fourth]) })
        case .second, .third, .fourth: return .none
        }
      }
    }
    var taken: [Step] = []
    store.onEffectAction = { taken.append($0) }
    store.send(.first)
    #expect(store.state.count == 2, "follow-up actions are not inputs")
    lane.run()
    #expect(taken == [.third, .fourth])
    #expect(store.state.count == 2)
    store.onEffectAction = { [unowned store] in store.send($0) }
    store.send(.first)
    lane.run()
    #expect(store.state.count == 6)
  }

  @Test func `no effect is started during a replay`() {
    let clock = TestClock(lane: lane)
    let store = Store(initialState: Leaf(), lane: lane) {
      Reduce<Leaf, Step> { state, step in
        state.count += 1
        guard case .first = step else { return .none }
        return .merge(
          .send(.second), .run { $0(.third) },
          .run { $0(.fourth) }.debounce(id: "pause", for: .seconds(1), clock: clock))
      }
    }
    store.startsEffects = false
    store.send(.first)
    lane.run()
    #expect(store.state.count == 2)
    #expect(store.startedEffects == 0)
    store.startsEffects = true
    store.send(.first)
    clock.advance(by: .seconds(1))
    #expect(store.state.count == 6)
    #expect(store.startedEffects == 3, "two effects and the wait of a debounce")
  }

  @Test func `a cycle of actions is stopped and reported with the kinds of its actions`() {
    let store = Store(initialState: Leaf(), lane: lane) {
      Reduce<Leaf, Cycle> { _, action in
        switch action {
        case .start: .send(.ping)
        case .ping: .send(.pong)
        case .pong: .send(.ping)
        }
      }
    }
    store.feedbackLimit = 100
    var kinds: [String] = []
    store.onFailure = { failure in
      if case .endlessActions(100, let lastKinds) = failure { kinds = lastKinds }
    }
    store.send(.start)
    #expect(Set(kinds) == ["ping", "pong"] && kinds.count == 2)
    #expect(store.failures == 1)
    store.send(.start)
    #expect(store.failures == 2, "the store still works")
  }

  @Test func `an effect that is cancelled in the action that starts it never runs`() {
    let transcript = Transcript()
    let store = Store(initialState: Leaf(), lane: lane) {
      Reduce<Leaf, Step> { _, _ in
        .merge(
          .run { _ in transcript.add(Task.isCancelled ? "cancelled" : "ran") }.cancellable(id: 1),
          .cancel(id: 1))
      }
    }
    store.send(.first)
    lane.run()
    #expect(transcript.lines == ["cancelled"])
    #expect(store.runningEffects == 0)
  }

  @Test func `cancelInFlight ends the previous effect and drops what it still sends`() {
    let store = Store(initialState: Leaf(), lane: lane) {
      Reduce<Leaf, LeafFeature.Action> { state, action in
        switch action {
        case .slept(let id):
          return .run { send in
            await waitForCancellation()
            send(.counted(id))
          }.cancellable(id: "one", cancelInFlight: true)
        case .counted(let amount): state.count += amount
        default: break
        }
        return .none
      }
    }
    store.send(.slept(id: 1))
    lane.run()
    store.send(.slept(id: 2))
    lane.run()
    #expect(store.runningEffects == 1)
    #expect(store.state.count == 0)
  }

  @Test func `identifiers of effects are local to a child`() {
    let store = makeZoo()
    store.send(.child(.slept(id: 1)))
    store.send(.hidden(.slept(id: 1)))
    store.send(.rows(ElementAction(id: 0, action: .slept(id: 1))))
    #expect(store.runningEffects == 3)
    store.send(.child(.awoken(id: 1)))
    #expect(store.runningEffects == 2)
    store.send(.rows(ElementAction(id: 1, action: .awoken(id: 1))))
    #expect(store.runningEffects == 2)
    store.send(.rows(ElementAction(id: 0, action: .awoken(id: 1))))
    #expect(store.runningEffects == 1)
  }

  @Test func `the effects of a child end when the child is removed, whatever form the child has`() {
    let store = makeZoo()
    store.change {
      $0.optional = Leaf()
      $0.sheet = Leaf()
      $0.phase = .live(Leaf())
    }
    store.send(.optional(.slept(id: 1)))
    store.send(.sheet(.presented(.slept(id: 1))))
    store.send(.phase(.slept(id: 1)))
    store.send(.child(.slept(id: 1)))
    #expect(store.runningEffects == 4)
    store.change { $0.optional = nil }
    #expect(store.runningEffects == 3)
    store.send(.sheet(.dismiss))
    #expect(store.runningEffects == 2)
    store.change { $0.phase = .idle }
    #expect(store.runningEffects == 1)
  }

  @Test func `the effects of removed elements end, and other effects continue`() {
    let store = makeZoo(rows: 4)
    for id in 0..<4 { store.send(.rows(ElementAction(id: id, action: .slept(id: 1)))) }
    store.change { $0.rows.remove(id: 2) }
    #expect(store.runningEffects == 3)
    store.change { $0.rows[id: 0]?.count += 1 }
    #expect(store.runningEffects == 3)
    store.change { zoo in
      var rows = KeyedCollection<Int, Leaf>()
      rows.append(Leaf(), id: 3)
      zoo.rows = rows
    }
    #expect(store.runningEffects == 1)
    store.change { $0.rows.removeAll() }
    #expect(store.runningEffects == 0)
  }

  @Test func `the first effect of a collection ends if its action removes the element`() {
    let store = Store(initialState: makeZoo().state, lane: lane) {
      ReducerSteps<Zoo, ZooFeature.Action>.make {
        Reduce { state, action in
          if case .rows(let element) = action { state.rows.remove(id: element.id) }
          return .none
        }
        .forEach(\.rows, action: \.rows) { LeafFeature() }
      }
    }
    store.send(.rows(ElementAction(id: 0, action: .slept(id: 1))))
    lane.run()
    #expect(store.runningEffects == 0)
  }

  @Test
  func `the effects of missing elements end when the collection is replaced`() {
    let store = makeZoo(rows: 2)
    for id in 0..<2 { store.send(.rows(ElementAction(id: id, action: .slept(id: 1)))) }
    store.change { zoo in
      var rows = KeyedCollection<Int, Leaf>()
      rows.append(Leaf(), id: 1)
      zoo.rows = rows
    }
    #expect(store.runningEffects == 1)
  }

  @Test func `an uncaught error is reported with the effect's name, a cancellation is not`() {
    let store = Store(initialState: Leaf(), lane: lane) {
      Reduce<Leaf, Step> { _, step in
        switch step {
        case .first: .run(name: "broken") { _ in throw Broken() }
        case .second: .run { _ in throw CancellationError() }
        case .third:
          .run { _ in
            throw Broken()
          } catch: { _, send in
            send(.fourth)
          }
        case .fourth: .none
        }
      }
    }
    var names: [String] = []
    store.onFailure = { failure in
      if case .uncaughtError(let name, _) = failure { names.append(name) }
    }
    store.send(.first)
    store.send(.second)
    store.send(.third)
    lane.run()
    #expect(names == ["broken"])
    #expect(store.actionCount == 4, "the handler sent an action")
    #expect(store.runningEffects == 0)
  }

  @Test func `awaiting a handle waits for the effects of its action and of following actions`()
    async
  {
    let store = makeZoo()
    let quick = store.start(.child(.sleptOver))
    #expect(!quick.isRunning)
    await quick.finish()
    let handle = store.start(.child(.slept(id: 1)))
    store.send(.child(.slept(id: 2)))
    #expect(handle.isRunning && store.runningEffects == 2)
    handle.cancel()
    await handle.finish()
    #expect(!handle.isRunning && store.runningEffects == 1)
  }

  private func makeZoo(rows: Int = 2) -> ZooStore {
    var zoo = Zoo()
    for id in 0..<rows { zoo.rows.append(Leaf(), id: id) }
    return ZooStore.make(zoo, lane: lane)
  }
}

private struct Broken: Error {}

private enum Step: Sendable { case first, second, third, fourth }

@CasePathable
private enum Cycle: Sendable { case start, ping, pong }
