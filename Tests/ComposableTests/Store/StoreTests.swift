import CAllocationCounter
import Composable
import ComposableTesting
import Testing

struct StoreTests {
  @Test(
    .enabled(if: Memory.isMeasured, "the allocator of this build cannot be asked"),
    .enabled(if: isOptimised, "unoptimised code allocates"))
  func `a send without effects allocates nothing`() {
    let store = ZooStore.make()
    store.change { $0.optional = Leaf() }
    let observer = store.place.child(\.child).observe(\.count) {}
    #expect(allocations { store.send(.child(.counted(1))) } == 0)
    #expect(allocations { store.send(.optional(.counted(1))) } == 0)
    #expect(allocations { allocateOnce() } == 100, "the allocation counter works")
    _ = observer
  }

  @Test
  func `withState reads the state without a copy, and actions sent in its closure wait`() {
    let store = ZooStore.make()
    store.send(.child(.counted(2)))
    let (before, after) = store.withState { state in
      let before = state.value.child.count
      store.send(.child(.counted(3)))
      return (before, state.value.child.count)
    }
    #expect(before == 2 && after == 2)
    store.send(.child(.ignored))
    #expect(store.state.child.count == 5)
  }

  @Test func `printChanges prints the kind and changed fields of each action`() {
    var lines: [String] = []
    let store = ZooStore.make()
    store.printChanges { lines.append($0) }
    let calls = Calls()
    let observer = store.observe(\.child) { calls.record("child") }
    store.send(.child(.counted(1)))
    store.send(.child(.ignored))
    store.change { $0.rows.append(Leaf(), id: 3) }
    store.send(.rows(ElementAction(id: 3, action: .named("x"))))
    #expect(
      lines == [
        "child.counted: child.count", "child.ignored: (nothing)", "changed: rows",
        "rows.named: rows.3.name",
      ])
    #expect(calls.taken() == ["child"], "reading changes does not consume them")
    _ = observer
  }

  @Test func `a computed scope that is evaluated too often causes one warning`() {
    var warnings: [String] = []
    let store = ZooStore.make()
    store.onWarning = { warnings.append($0) }
    let scope = store.scope(computed: "summary", allowance: 5) { $0.list.count }
    for _ in 0..<20 { _ = scope.state }
    #expect(warnings.count == 1)
    #expect(warnings.first?.contains("'summary' was evaluated 6 times") == true)
    #expect(store.computedScopeCounts.map(\.name) == ["summary"])
    #expect(store.computedScopeCounts.map(\.evaluations) == [20])
  }

  @Test func `actions sent together are reduced in order and reported once`() {
    let store = ZooStore.make()
    let calls = Calls()
    let observer = store.place.child(\.child).observe(\.count) { calls.record("count") }
    store.send(contentsOf: (1...3).map { .child(.named("\($0)")) } + [.child(.counted(1))])
    store.send(contentsOf: [.child(.counted(1)), .child(.counted(1))])
    #expect(calls.taken() == ["count", "count"])
    #expect(store.state.child == Leaf(count: 3, name: "3"))
    #expect(store.actionCount == 6)
    _ = observer
  }

  @Test func `changes by an action and its follow-up actions are reported once`() {
    let calls = Calls()
    let store = Store(initialState: Leaf(), lane: DirectLane()) {
      Reduce<Leaf, LeafFeature.Action> { state, action in
        guard case .counted(let amount) = action else { return .none }
        state.count += amount
        return amount > 1
          ? .merge(.send(.counted(amount / 2)), .send(.counted(amount / 2))) : .none
      }
    }
    let observer = store.observe(\.count) { [unowned store] in calls.record("\(store.state.count)")
    }
    store.send(.counted(4))
    #expect(calls.taken() == ["12"])
    _ = observer
  }

  @Test func `actions sent from an observer while reducing are queued`() {
    let store = ZooStore.make()
    store.onAction { [unowned store] action in
      if case .child(.counted(1)) = action { store.send(.child(.named("after"))) }
    }
    store.send(.child(.counted(1)))
    #expect(store.state.child == Leaf(count: 1, name: "after"))
    #expect(store.actionCount == 2)
  }
}

/// Counts the allocations of 100 calls, after one call that may allocate caches.
private func allocations(_ body: () -> Void) -> UInt64 {
  body()
  let before = allocation_count()
  for _ in 0..<100 { body() }
  return allocation_count() - before
}

@inline(never)
private func allocateOnce() {
  let memory = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 16)
  withExtendedLifetime(memory) { memory.deallocate() }
}
