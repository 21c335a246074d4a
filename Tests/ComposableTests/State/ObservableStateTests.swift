import Composable
import ComposableTesting
import Foundation
import Testing

struct ObservableStateTests {
  @Test func `equality and hash depend on the fields, not on recorded changes`() {
    var changed = Leaf()
    changed.count = 1
    changed.count = 0
    #expect(changed == Leaf())
    #expect(changed.hashValue == Leaf().hashValue)
    changed.count = 2
    #expect(changed != Leaf())
  }

  @Test func `coding uses the names of the fields`() throws {
    var leaf = Leaf()
    leaf.count = 3
    leaf.name = "x"
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let data = try encoder.encode(leaf)
    #expect(String(decoding: data, as: UTF8.self) == #"{"count":3,"name":"x"}"#)
    #expect(try JSONDecoder().decode(Leaf.self, from: data) == leaf)
  }

  @Test func `a dump shows fields under their names`() {
    let labels = Mirror(reflecting: Leaf()).children.compactMap(\.label)
    #expect(labels == ["count", "name"])
  }

  @Test func `every field of a wide state has a bit`() {
    let store = Store(initialState: Wide(), lane: DirectLane()) { WideFeature() }
    let calls = Calls()
    let last = store.observe(\.f69) { calls.record("f69") }
    let first = store.observe(\.f0) { calls.record("f0") }
    store.send(.changed(69))
    #expect(calls.taken() == ["f69"])
    store.send(.changed(0))
    #expect(calls.taken() == ["f0"])
    #expect(store.state.f69 == 1 && Wide._$fieldNames.count == 70)
    _ = (last, first)
  }

  @Test func `a generic state records the changes of its fields`() {
    var pair = Pair(first: 1, second: "a")
    pair.second = "b"
    #expect(pair._$changes.isWritten(1) && !pair._$changes.isWritten(0))
    pair.first = 1
    #expect(!pair._$changes.isWritten(0), "an equal value is not a change")
  }

  @Test func `nested optionals are distinguished`() {
    let store = ZooStore.make()
    let calls = Calls()
    let observer = store.observe(\.nested) { calls.record("nested") }
    store.change { $0.nested = .some(nil) }
    #expect(calls.taken() == ["nested"])
    store.change { $0.nested = .some(nil) }
    #expect(calls.taken() == [])
    store.change { $0.nested = 1 }
    #expect(calls.taken() == ["nested"])
    _ = observer
  }

  @Test func `the payload of an enum is changed in place`() {
    var phase = Phase.live(Leaf())
    let count = Phase.CaseLenses.Case_live.modify(&phase) { leaf in
      leaf.count = 7
      return leaf.count
    }
    #expect(count == 7)
    #expect(phase == .live(with(Leaf()) { $0.count = 7 }))
    #expect(Phase.CaseLenses.Case_failed.modify(&phase) { $0 = "x" } == nil)
    #expect(phase._$tag == 1)
  }

  @Test(.enabled(if: isOptimised, "without optimisation the payload is copied"))
  func `a collection in a payload is not copied when it is changed`() {
    var box = Box.full(Array(0..<100))
    let address = { (box: Box) -> UInt in
      guard case .full(let items) = box else { return 0 }
      return items.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
    }
    let before = address(box)
    Box.CaseLenses.Case_full.modify(&box) { $0[0] = 5 }
    #expect(address(box) == before)
  }
}

private func with<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
  var value = value
  change(&value)
  return value
}

@ObservableState
private struct Pair<First: Equatable & Sendable, Second: Equatable & Sendable>: Equatable, Sendable
{
  var first: First
  var second: Second
}

@ObservableState
private enum Box: Equatable, Sendable {
  case empty
  case full([Int])
}
