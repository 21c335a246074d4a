import Composable
import ComposableTesting
import Foundation
import Testing

/// Tests that long runs hold no more memory at their end than after a warm-up.
///
/// With `LIVEHOST_SOAK` in the environment, each run is ten times longer and prints its
/// measurements.
@Suite(.serialized, .enabled(if: Memory.isMeasured, "the allocator of this build cannot be asked"))
struct MemoryTests {
  let lane = ManualLane()

  @Test func `root stores that are released with running effects do not leak`() {
    expectFlat(rounds: 100_000) { _ in
      let store = ZooStore.make(Zoo(), lane: lane)
      let observer = store.place.child(\.child).observe(\.count) {}
      store.send(.child(.counted(1)))
      store.send(.child(.slept(id: 1)))
      lane.run()
      precondition(!observer.isCancelled && store.runningEffects == 1)
    }
  }

  @Test func `ten million actions with a hundred thousand short-lived children do not leak`() {
    let store = ZooStore.make(Zoo(), lane: lane)
    expectFlat(rounds: 100_000) { round in
      store.change { $0.rows.append(Leaf(), id: round) }
      let handle = store.scope(state: \.rows, id: round, action: \.rows)
      let observer = handle?.place.observe(\.count) {}
      handle?.send(.slept(id: 1))
      for _ in 0..<100 { handle?.send(.counted(1)) }
      lane.run()
      precondition(store.runningEffects == 1 && observer?.isCancelled == false)
      store.change { $0.rows.remove(id: round) }
      precondition(store.runningEffects == 0 && observer?.isCancelled == true)
    }
  }

  @Test func `short-lived optional and presented children and phases do not leak`() {
    let store = ZooStore.make(Zoo(), lane: lane)
    expectFlat(rounds: 20_000) { round in
      store.change {
        $0.optional = Leaf()
        $0.sheet = Leaf()
        $0.phase = .live(Leaf())
      }
      let handle = store.scope(state: \.optional, action: \.optional)
      let observer = handle.place.observe(\.name) {}
      handle.send(.slept(id: round))
      store.send(.sheet(.presented(.slept(id: round))))
      store.send(.phase(.slept(id: round)))
      lane.run()
      precondition(store.runningEffects == 3)
      store.send(.sheet(.dismiss))
      store.change {
        $0.optional = nil
        $0.phase = .idle
      }
      observer.cancel()
      precondition(store.runningEffects == 0)
    }
  }

  @Test func `observed rows whose observers end before the rows do not leak`() {
    let store = ZooStore.make(Zoo(), lane: lane)
    let other = store.observe(\.text) {}
    expectFlat(rounds: 20_000) { round in
      store.change { $0.rows.append(Leaf(), id: round) }
      let handle = store.scope(state: \.rows, id: round, action: \.rows)
      handle?.place.observe(\.count) {}.cancel()
      store.change { $0.rows.remove(id: round) }
    }
    _ = other
  }

  @Test func `abandoned sequences of values do not leak`() {
    let store = ZooStore.make(Zoo(), lane: lane)
    expectFlat(rounds: 20_000) { round in
      var values: AsyncStream<Int>? = store.values(of: \.number)
      var changes: AsyncStream<FieldSet>? = store.changes()
      store.change { $0.number = round }
      precondition(values != nil && changes != nil)
      (values, changes) = (nil, nil)
      // An abandoned sequence releases its observer on the lane.
      lane.run()
    }
  }

  @Test func `computed scopes made at every access do not leak`() {
    let store = ZooStore.make(Zoo(), lane: lane)
    expectFlat(rounds: 50_000) { round in
      precondition(store.scope(computed: "rows") { $0.rows.count }.state == 0)
    }
  }

  @Test func `throttles and debounces with identifiers that are used once do not leak`() {
    let clock = TestClock(lane: lane)
    let store = Store(initialState: Leaf(), lane: lane) {
      Reduce<Leaf, LeafFeature.Action> { _, action in
        guard case .counted(let number) = action else { return .none }
        return .merge(
          .send(.ignored).throttle(id: number, for: .seconds(1), clock: clock),
          .send(.ignored).debounce(id: -number - 1, for: .seconds(1), clock: clock))
      }
    }
    expectFlat(rounds: 20_000) { round in
      store.send(.counted(round))
      clock.advance(by: .seconds(1))
    }
  }

  /// Runs `body` and checks that memory does not grow after a warm-up.
  private func expectFlat(
    rounds: Int, test: String = #function, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: (Int) -> Void
  ) {
    let isSoak = ProcessInfo.processInfo.environment["LIVEHOST_SOAK"] != nil
    let (warmUp, rounds) = (rounds / 4, isSoak ? rounds * 10 : rounds)
    for round in 0..<warmUp { body(round) }
    lane.run()
    let before = Memory.now()
    for round in warmUp..<(warmUp + rounds) { body(round) }
    lane.run()
    let growth = Memory.now() - before
    if isSoak {
      print(
        "\(test.dropLast(2)): \(rounds) rounds, then \(growth.allocated) bytes more allocated,",
        "\(growth.resident) more resident")
    }
    #expect(growth.allocated <= 64 << 10, sourceLocation: sourceLocation)
    #expect(growth.resident <= 1 << 20, sourceLocation: sourceLocation)
  }
}
