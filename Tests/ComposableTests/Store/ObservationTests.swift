import Composable
import ComposableTesting
import Testing

struct ObservationTests {
  let calls = Calls()

  @Test func `a field's observer is called once per change of that field only`() {
    let store = ZooStore.make()
    let observer = store.observe(\.number) { calls.record("number") }
    store.change {
      $0.number = 1
      $0.number = 2
    }
    #expect(calls.taken() == ["number"])
    store.change { $0.number = 2 }
    store.change { $0.text = "x" }
    #expect(calls.taken() == [])
    observer.cancel()
    store.change { $0.number = 3 }
    #expect(calls.taken() == [])
  }

  @Test
  func `a change of a child calls observers of the child and its parent, but not of siblings`() {
    let store = ZooStore.make()
    let observers = [
      store.place.child(\.child).observe(\.count) { calls.record("child.count") },
      store.place.child(\.child).observe(\.name) { calls.record("child.name") },
      store.observe(\.child) { calls.record("child") },
      store.place.child(\.hidden).observe(\.count) { calls.record("hidden.count") },
      store.observe(\.hidden) { calls.record("hidden") },
    ]
    store.send(.child(.counted(1)))
    #expect(calls.taken().sorted() == ["child", "child.count"])
    store.send(.child(.ignored))
    store.send(.child(.counted(0)))
    #expect(calls.taken() == [], "an access without a change is not a change")
    store.send(.hidden(.counted(1)))
    #expect(calls.taken() == ["hidden.count"], "an ignored field is not reported to its own state")
    store.setIgnored([])
    store.send(.hidden(.counted(1)))
    #expect(calls.taken().sorted() == ["hidden", "hidden.count"])
    _ = observers
  }

  @Test func `all fields of a replaced child count as changed, however it is replaced`() {
    let store = ZooStore.make()
    let observer = store.place.child(\.child).observe(\.name) { calls.record("name") }
    store.change { $0.child = Leaf() }
    #expect(calls.taken() == ["name"])
    store.change { zoo in
      func reset(_ leaf: inout Leaf) { leaf = Leaf() }
      reset(&zoo.child)
    }
    #expect(calls.taken() == ["name"])
    store.change { ($0.child, $0.hidden) = ($0.hidden, $0.child) }
    #expect(calls.taken() == ["name"])
    store.change { $0 = Zoo() }
    #expect(calls.taken() == ["name"])
    _ = observer
  }

  @Test
  func `the changes of a batch are reported together, even if its last action changes nothing`() {
    let store = ZooStore.make(Zoo(), .batched)
    let observer = store.observeAll { fields in
      calls.record(fields.contains(field: 0) ? "number" : "-")
      calls.record(fields.contains(field: 1) ? "text" : "-")
    }
    store.change { $0.number = 1 }
    store.change { $0.text = "x" }
    store.change { _ in }
    #expect(calls.taken() == [])
    store.deliverChanges()
    #expect(calls.taken() == ["number", "text"])
    store.deliverChanges()
    #expect(calls.taken() == [])
    _ = observer
  }

  @Test func `an observer does not see changes made before it was added`() {
    let store = ZooStore.make(Zoo(), .batched)
    store.change { $0.number = 1 }
    let late = store.observe(\.number) { calls.record("late") }
    store.deliverChanges()
    #expect(calls.taken() == [])
    store.change { $0.number = 2 }
    let later = store.observe(\.number) { calls.record("later") }
    store.deliverChanges()
    #expect(calls.taken() == ["late"])
    _ = (late, later)
  }

  @Test func `presence is reported only when an optional child appears or disappears`() {
    let store = ZooStore.make()
    let observer = store.observePresence(\.optional) { calls.record($0 ? "came" : "went") }
    store.change { $0.optional = Leaf() }
    #expect(calls.taken() == ["came"])
    store.send(.optional(.counted(1)))
    store.change { $0.optional = Leaf() }
    #expect(calls.taken() == [])
    store.change { $0.optional = nil }
    #expect(calls.taken() == ["went"])
    store.change { $0.optional = nil }
    #expect(calls.taken() == [])
    _ = observer
  }

  @Test func `an optional child that was nil and is set to nil does not change`() {
    let store = ZooStore.make()
    let observer = store.observe(\.optional) { calls.record("optional") }
    store.change { $0.optional = nil }
    #expect(calls.taken() == [])
    store.change { $0.optional = Leaf() }
    store.change { $0.optional = nil }
    #expect(calls.taken() == ["optional", "optional"])
    _ = observer
  }

  @Test func `an observer that is cancelled by another in the same round is not called`() {
    let store = ZooStore.make()
    let second = Slot()
    let first = store.observe(\.number) { second.observer?.cancel() }
    second.observer = store.observe(\.number) { calls.record("second") }
    store.change { $0.number = 1 }
    #expect(calls.taken() == [])
    _ = first
  }

  @Test func `changes made by an observer are reported in the next round`() {
    let store = ZooStore.make()
    let first = store.observe(\.number) { [unowned store] in store.change { $0.text = "seen" } }
    let second = store.observe(\.text) { calls.record("text") }
    store.change { $0.number = 1 }
    #expect(calls.taken() == ["text"])
    _ = (first, second)
  }

  @Test func `cancelling after the store is released does nothing`() {
    var store: ZooStore? = ZooStore.make()
    let observer = store?.observe(\.number) {}
    store = nil
    observer?.cancel()
    #expect(observer?.isCancelled == true)
  }

  @Test func `values and changes are asynchronous sequences that end with the store`() async {
    let lane = ManualLane()
    var store: ZooStore? = ZooStore.make(Zoo(), lane: lane)
    var values = store?.values(of: \.number).makeAsyncIterator()
    var changes = store?.changes().makeAsyncIterator()
    #expect(await values?.next() == 0)
    store?.change { $0.number = 1 }
    store?.change { $0.number = 2 }
    store?.change { $0.text = "x" }
    #expect(await values?.next() == 2)
    let fields = await changes?.next()
    #expect(fields?.contains(field: 0) == true && fields?.contains(field: 1) == true)
    store = nil
    #expect(await values?.next() == nil)
    #expect(await changes?.next() == nil)
    lane.run()
  }
}

private final class Slot {
  var observer: Observer?
}
