import Composable
import ComposableTesting
import Testing

struct LeakTests {
  @Test func `a store is released with its observers, handles and running effects`() {
    let lane = ManualLane()
    weak var store: ZooStore?
    weak var observer: Observer?
    weak var witness: Witness?
    do {
      let held = ZooStore.make(Zoo(), lane: lane)
      let seen = Witness()
      (store, witness) = (held, seen)
      observer = held.place.child(\.child).observe(\.count) { seen.touch() }
      let child = held.scope(state: \.child, action: \.child)
      child.send(.counted(1))
      child.send(.slept(id: 1))
      lane.run()
      #expect(held.runningEffects == 1)
    }
    #expect(store == nil && observer == nil && witness == nil)
    lane.run()
    #expect(lane.isIdle)
  }

  @Test func `root stores that are released with running effects leave nothing in memory`() {
    let lane = ManualLane()
    let counter = Witness.Counter()
    for _ in 0..<2_000 {
      let store = ZooStore.make(Zoo(), lane: lane)
      let witness = Witness(counter)
      let observer = store.observe(\.number) { witness.touch() }
      store.send(.child(.slept(id: 1)))
      store.change { $0.number = 1 }
      lane.run()
      _ = observer
    }
    lane.run()
    #expect(counter.alive == 0)
  }

  @Test func `removed children leave no effects, nodes or memory behind`() {
    let lane = ManualLane()
    let store = ZooStore.make(Zoo(), lane: lane)
    for round in 0..<2_000 {
      store.change { $0.rows.append(Leaf(), id: round) }
      let handle = store.scope(state: \.rows, id: round, action: \.rows)
      let observer = handle?.place.observe(\.count) {}
      handle?.send(.slept(id: 1))
      handle?.send(.counted(1))
      store.change { $0.rows.remove(id: round) }
      #expect(observer?.isCancelled == true, "the node of a removed element is released")
    }
    lane.run()
    #expect(store.runningEffects == 0)
    #expect(store.state.rows.slotLimit == 1)
  }

  @Test func `a late action for a released store does nothing`() {
    let lane = ManualLane()
    do {
      let store = ZooStore.make(Zoo(), lane: lane)
      store.send(.child(.slept(id: 1)))
    }
    lane.run()
    #expect(lane.isIdle)
  }

  @Test(.timeLimit(.minutes(1)))
  func `messages to a stopped lane are released with their store`() async {
    weak var witness: Witness?
    do {
      let seen = Witness()
      witness = seen
      nonisolated(unsafe) let captured = seen
      let store = Store(initialState: Leaf(), lane: StoppedLane()) {
        Reduce<Leaf, LeafFeature.Action> { _, action in
          .run(onLane: false) { send in withExtendedLifetime(captured) { send(action) } }
        }
      }
      store.send(.counted(1))
    }
    while witness != nil { await Task.yield() }
  }
}

/// A lane that never runs its jobs.
private struct StoppedLane: Lane {
  var taskExecutor: (any TaskExecutor)? { nil }
  func execute(_ job: @escaping @Sendable () -> Void) {}
}

/// An object that records whether it is alive.
private final class Witness {
  final class Counter {
    var alive = 0
  }

  private let counter: Counter?

  init(_ counter: Counter? = nil) {
    self.counter = counter
    counter?.alive += 1
  }

  deinit { counter?.alive -= 1 }

  func touch() {}
}
