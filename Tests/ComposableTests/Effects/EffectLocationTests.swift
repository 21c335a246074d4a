import Composable
import ComposableTesting
import Testing

/// Tests the executor of effects, the delivery of their actions, and their owners.
struct EffectLocationTests {
  let lanes = Lanes()
  let transcript = Transcript()

  private enum Step: Sendable { case run(onLane: Bool), batch, chain, link, told(Int) }

  private func makeStore() -> Store<Leaf, Step> {
    Store(initialState: Leaf(), lane: lanes) {
      Reduce<Leaf, Step> { [transcript] state, step in
        switch step {
        case .run(let onLane):
          return .run(name: "named", priority: .low, onLane: onLane) { send in
            transcript.add("priority \(Task.currentPriority == .low)")
            send(.told(1))
          }
        case .batch:
          return .run { send in
            send(.told(1))
            send(contentsOf: [.told(2), .told(3)])
            send(.told(4))
          }
        case .chain: return .run { send in send(.link) }
        case .link: return .run { _ in await waitForCancellation() }
        case .told(let number):
          state.count = number
          transcript.add("told \(number)")
          return .none
        }
      }
    }
  }

  @Test func `an effect on the lane waits for the lane's turn and has the given name and priority`()
  {
    let store = makeStore()
    store.send(.run(onLane: true))
    #expect(store.runningEffectNames == ["named"])
    #expect(transcript.lines == [], "the effect waits for the lane's turn")
    lanes.pool.run()
    #expect(transcript.lines == [])
    lanes.lane.run()
    #expect(transcript.lines == ["priority true", "told 1"])
  }

  @Test func `an effect can run on the pool; its actions return to the lane`() {
    let store = makeStore()
    store.send(.run(onLane: false))
    lanes.lane.run()
    #expect(transcript.lines == [])
    lanes.pool.run()
    #expect(transcript.lines == ["priority true"])
    lanes.lane.run()
    #expect(transcript.lines == ["priority true", "told 1"])
    #expect(store.runningEffects == 0)
  }

  @Test func `the actions of an effect arrive in order, with one wake-up and one notification`() {
    let store = makeStore()
    let observer = store.observe(\.count) { [transcript] in transcript.add("observed") }
    store.send(.batch)
    let before = lanes.wakeUps
    lanes.lane.run()
    #expect(lanes.wakeUps - before <= 2, "one wake-up for the actions, one for the end")
    #expect(transcript.lines == ["told 1", "told 2", "told 3", "told 4", "observed"])
    _ = observer
  }

  @Test func `awaiting a handle waits for the effects of the actions that follow from the send`() {
    let store = makeStore()
    let handle = store.start(.chain)
    lanes.lane.run()
    #expect(handle.isRunning && store.runningEffects == 1)
    handle.cancel()
    #expect(!handle.isRunning && store.runningEffects == 0)
  }

  @Test func `awaiting a handle returns after the last effect has ended`() {
    let store = makeStore()
    nonisolated(unsafe) let handle = store.start(.chain)
    let task = Task(executorPreference: lanes.lane) { [transcript] in
      await handle.finish()
      transcript.add("finished")
    }
    lanes.lane.run()
    #expect(transcript.lines == [] && !task.isCancelled)
    store.cancelEffects()
    lanes.lane.run()
    #expect(transcript.lines == ["finished"])
  }

  @Test func `the effects of grandchildren end with the child`() {
    var zoo = Zoo()
    zoo.rows.append(Leaf(), id: 1)
    zoo.optional = Leaf()
    let store = Store(initialState: Outer.State(zoo: zoo), lane: lanes.lane) { Outer() }
    for action: ZooFeature.Action in [
      .child(.slept(id: 1)), .optional(.slept(id: 1)),
      .rows(ElementAction(id: 1, action: .slept(id: 1))),
    ] { store.send(.zoo(action)) }
    lanes.lane.run()
    #expect(store.runningEffects == 3)
    #expect(store.runningEffectNames == ["sleep", "sleep", "sleep"])
    store.send(.zooLeft)
    #expect(store.runningEffects == 0)
  }

  @Test func `releasing a store cancels its effects`() {
    var store: Store<Leaf, Bool>? = Store(initialState: Leaf(), lane: lanes.lane) {
      Reduce<Leaf, Bool> { [transcript] _, _ in
        .run { _ in
          await waitForCancellation()
          transcript.add("ended")
        }
      }
    }
    store?.send(true)
    lanes.lane.run()
    #expect(transcript.lines == [])
    store = nil
    lanes.lane.run()
    #expect(transcript.lines == ["ended"])
  }
}

/// A lane and a pool that run on demand. Counts how often the lane was woken.
final class Lanes: Lane {
  let lane = ManualLane()
  let pool = ManualLane()
  private let woken = Transcript()

  var wakeUps: Int { woken.lines.count }
  var taskExecutor: (any TaskExecutor)? { lane }
  var poolExecutor: (any TaskExecutor)? { pool }

  func execute(_ job: @escaping @Sendable () -> Void) {
    woken.add("woken")
    lane.execute(job)
  }
}

/// The parent of a parent.
@Reducer
private struct Outer {
  @ObservableState
  struct State: Equatable, Sendable {
    var zoo: Zoo?
  }

  enum Action: Sendable {
    case zoo(ZooFeature.Action)
    case zooLeft
  }

  var body: some ReducerOf<Self> {
    Reduce { state, action in
      if case .zooLeft = action { state.zoo = nil }
      return .none
    }
    .ifLet(\.zoo, action: \.zoo) { ZooFeature() }
  }
}
