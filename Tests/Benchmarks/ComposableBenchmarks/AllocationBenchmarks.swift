import BenchmarkChildren
import BenchmarkHost
import BenchmarkKit
import CAllocationCounter
import Composable

/// Counts the allocations of a send without effects. As a control, also counts the allocations of
/// code that allocates once.
func allocationBenchmarks(_ harness: Harness) {
  guard harness.isWanted("send.allocations") else { return }
  let store = Store(initialState: HostFeature.State(), lane: LoopLane()) { HostFeature() }
  store.send(.opened)
  let tally = Tally()
  _ = store.place.child(\.first).observe(\.count) { tally.count &+= 1 }
  let sends = allocations(per: 10_000) {
    store.send(.first(.incremented))
    store.send(.fourth(.levelChanged(tally.count)))
  }
  harness.report("send.allocations", sends / 2, "allocations", bar: "0")
  harness.report(
    "send.allocations.control", allocations(per: 10_000) { allocateOnce() }, "allocations",
    bar: "1: the counter counts")
}

private func allocations(per rounds: Int, _ body: () -> Void) -> Double {
  body()
  let before = allocation_count()
  for _ in 0..<rounds { body() }
  return Double(allocation_count() - before) / Double(rounds)
}

@inline(never)
private func allocateOnce() {
  let memory = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 16)
  keep(memory)
  memory.deallocate()
}
