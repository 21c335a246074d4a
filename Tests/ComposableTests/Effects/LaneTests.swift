import Composable
import ComposableTesting
import Dispatch
import Testing

/// A store whose actor runs on the store's lane.
private actor Room {
  let lane = SerialLane(label: "room")
  private lazy var store = makeStore()
  private var waiting: CheckedContinuation<Void, Never>?

  nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

  private func makeStore() -> Store<Leaf, LeafFeature.Action> {
    let store = Store(initialState: Leaf(), lane: lane) {
      Reduce<Leaf, LeafFeature.Action> { state, action in
        switch action {
        case .counted(let amount): state.count += amount
        case .slept(let id):
          return .merge(.run { $0(.counted(id)) }, .run(onLane: false) { $0(.counted(id)) })
        default: break
        }
        return .none
      }
    }
    store.onEffectActions = { [unowned self] in
      // The store calls this on its lane, which is this actor's executor.
      assumeIsolated { $0.look() }
    }
    return store
  }

  private func look() {
    guard store.runningEffects == 0 || store.state.count == 6 else { return }
    waiting?.resume()
    waiting = nil
  }

  func count() async -> Int {
    store.send(.slept(id: 3))
    // The state is checked again after the wait has begun, because the effects may have ended by
    // then.
    await withCheckedContinuation {
      waiting = $0
      look()
    }
    return store.state.count
  }
}

struct LaneTests {
  @Test(.timeLimit(.minutes(1))) func `an actor whose executor is a serial lane can own a store`()
    async
  {
    #expect(await Room().count() == 6)
  }

  @Test(.timeLimit(.minutes(1))) func `a serial lane runs jobs in sequence, in order`()
    async
  {
    let lane = SerialLane(queue: DispatchQueue(label: "given"))
    let transcript = Transcript()
    for number in 0..<100 { lane.execute { transcript.add("\(number)") } }
    let count = await lane.run { transcript.lines.count }
    #expect(count == 100)
    #expect(transcript.lines == (0..<100).map { "\($0)" })
  }

  @MainActor @Test(.timeLimit(.minutes(1)))
  func `a store on the main actor receives the actions of its effects there`() async {
    let lane = MainActorLane()
    let store = Store(initialState: Leaf(), lane: lane) {
      Reduce<Leaf, LeafFeature.Action> { state, action in
        guard case .counted(let amount) = action else {
          return .run { send in
            MainActor.preconditionIsolated()
            send(.counted(2))
          }
        }
        state.count += amount
        return .none
      }
    }
    await withCheckedContinuation { continuation in
      store.onEffectActions = { continuation.resume() }
      store.send(.ignored)
    }
    store.onEffectActions = nil
    #expect(store.state.count == 2)
  }
}
