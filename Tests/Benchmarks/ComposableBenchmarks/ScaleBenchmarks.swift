import BenchmarkChildren
import BenchmarkHost
import BenchmarkKit
import Composable

/// Measures the cost of a send with many other stores and observers.
func scaleBenchmarks(_ harness: Harness) {
  let sends = 50_000
  for size in [10, 100, 1_000, 10_000, 100_000] {
    let names = ["stores", "change", "element"].map { "send.\($0).\(size)" }
    guard names.contains(where: harness.isWanted) else { continue }
    let list = ObservedList(size)

    harness.measure(
      names[0], bar: "<= 60 ns, 100,000 at most 1.15 x 10", operations: sends
    ) {
      for _ in 0..<sends { list.store.send(.ignored) }
    }

    let observer = list.store.observe(\.revision) { list.tally.count &+= 1 }
    harness.measure(
      names[1], bar: "<= 150 ns, 100,000 at most 1.25 x 10", operations: sends
    ) {
      for _ in 0..<sends { list.store.send(.revised) }
    }
    observer.cancel()

    harness.measure(names[2], bar: "<= 250 ns at 10,000", operations: sends) {
      for index in 0..<sends { list.handles[list.order[index % size]].send(.incremented) }
    }
    precondition(
      list.tally.count > 0 || !harness.isWanted(names[1]) && !harness.isWanted(names[2]),
      "observers are called")
  }

  for size in [10_000, 100_000] where harness.isWanted("floor.element.\(size)") {
    var states = Array(repeating: PanelFeature.State(), count: size)
    let order = shuffled(size)
    harness.measure(
      "floor.element.\(size)", bar: "send.element at most 3 x this", operations: sends
    ) {
      for index in 0..<sends { states[order[index % size]].count &+= 1 }
    }
    keep(states.count)
  }

  if harness.isWanted("state.element") {
    var state = ListFeature.State(count: 10_000)
    let order = shuffled(10_000)
    harness.measure("state.element", bar: "<= 50 ns", operations: sends) {
      for index in 0..<sends {
        state.rows.modify(id: order[index % 10_000]) { $0.count &+= 1 }
      }
    }
    keep(state.rows.count)
  }
}

/// A store with many rows, each with a handle and an observer.
private struct ObservedList {
  let store: Store<ListFeature.State, ListFeature.Action>
  let handles: [ChildStore<PanelFeature.State, PanelFeature.Action>]
  let tally = Tally()
  /// The rows in the order of their changes.
  let order: [Int]

  init(_ size: Int) {
    let store = Store(initialState: ListFeature.State(count: size), lane: LoopLane()) {
      ListFeature()
    }
    self.store = store
    handles = (0..<size).compactMap { store.scope(state: \.rows, id: $0, action: \.rows) }
    order = shuffled(size)
    let tally = tally
    for handle in handles { _ = handle.place.observe(\.count) { tally.count &+= 1 } }
  }
}

/// Returns the numbers below `count` in a scattered order, which is the same in each run.
private func shuffled(_ count: Int) -> [Int] {
  let randomness = Randomness.seeded(1)
  var numbers = Array(0..<count)
  for index in numbers.indices.reversed().dropLast() {
    numbers.swapAt(index, randomness.next(in: 0...index))
  }
  return numbers
}
