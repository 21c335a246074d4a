import Composable
import ComposableTesting
import Testing

/// Makes random changes of a state with one field of each form, in random batches.
///
/// The written paths of each action are known. Each difference must be covered by a recorded
/// change, and each recorded change by a written path. Observers are called once per batch if their
/// fields differ, and never if their fields were not written.
struct PropertyTests {
  @Test(arguments: Array(1...60 as ClosedRange<UInt64>))
  func `every difference is recorded, and only written fields are recorded`(seed: UInt64) {
    var run = RandomRun(seed: seed)
    for _ in 0..<400 { run.step() }
    #expect(run.faults == [])
    #expect(run.callsTotal > 20, "the run calls observers")
  }
}

private struct RandomRun {
  let randomness: Randomness
  let store: ZooStore
  let calls = Calls()
  let noted = Calls()
  var observers: [(path: String, observer: Observer)] = []
  var faults: [String] = []
  var callsTotal = 0
  /// The paths of the current batch.
  var written: Set<String> = []
  var differed: Set<String> = []

  init(seed: UInt64) {
    randomness = Randomness.seeded(seed)
    var zoo = Zoo()
    for id in 0..<3 { zoo.rows.append(Leaf(), id: id) }
    store = ZooStore.make(zoo, .batched)
    store.onChanges { [noted] _, paths in for path in paths { noted.record(path) } }
    observe()
  }

  private mutating func observe() {
    let calls = calls
    func record(_ path: String) -> () -> Void { { calls.record(path) } }
    let place = store.place
    observers = [
      ("number", store.observe(\.number, record("number"))),
      ("text", store.observe(\.text, record("text"))),
      ("list", store.observe(\.list, record("list"))),
      ("nested", store.observe(\.nested, record("nested"))),
      ("child", store.observe(\.child, record("child"))),
      ("child.count", place.child(\.child).observe(\.count, record("child.count"))),
      ("hidden.name", place.child(\.hidden).observe(\.name, record("hidden.name"))),
      ("optional", store.observe(\.optional, record("optional"))),
      ("optional.count", place.child(\.optional).observe(\.count, record("optional.count"))),
      ("phase", store.observe(\.phase, record("phase"))),
      ("rows", store.observe(\.rows, record("rows"))),
    ]
  }

  mutating func step() {
    let before = flat(store.state)
    let (action, paths) = randomAction()
    store.send(action)
    let after = flat(store.state)
    let changed = Set(after.keys).union(before.keys).filter { before[$0] != after[$0] }
    let notes = noted.taken()
    for path in changed where !notes.contains(where: { covers($0, path) }) {
      faults.append("\(path) differs but is not in \(notes)")
    }
    for note in notes where !paths.contains(where: { covers($0, note) }) {
      faults.append("\(note) is recorded but not in \(paths)")
    }
    written.formUnion(paths)
    differed.formUnion(changed)
    if randomness.next(in: 0...3) == 0 { deliver() }
  }

  private mutating func deliver() {
    store.deliverChanges()
    let called = calls.taken()
    callsTotal += called.count
    if Set(called).count != called.count {
      faults.append("an observer was called twice: \(called)")
    }
    for (path, observer) in observers {
      let isCalled = called.contains(path)
      let isWritten = written.contains { covers($0, path) || covers(path, $0) }
      let isChanged = differed.contains { covers(path, $0) }
      if observer.isCancelled, isCalled {
        faults.append("\(path) was called after it was cancelled")
      }
      if !isWritten, isCalled { faults.append("\(path) was called without a change") }
      if isChanged, !isCalled, !observer.isCancelled { faults.append("\(path) was not called") }
    }
    written = []
    differed = []
    if randomness.next(in: 0...40) == 0,
      let some = observers.last(where: { !$0.observer.isCancelled })
    {
      some.observer.cancel()
    }
  }

  /// Returns whether `path` is `prefix` or below it.
  private func covers(_ prefix: String, _ path: String) -> Bool {
    path == prefix || path.hasPrefix(prefix + ".")
  }

  private func randomAction() -> (ZooFeature.Action, [String]) {
    let amount = randomness.next(in: 0...2)
    let id = randomness.next(in: 0...5)
    let leaf = Leaf(count: amount, name: "n\(amount)")
    let leafAction: LeafFeature.Action =
      [.counted(amount), .named("n\(amount)"), .ignored][randomness.next(in: 0...2)]
    func change(
      _ paths: String..., body: @escaping @Sendable (inout Zoo) -> Void
    ) -> (ZooFeature.Action, [String]) { (.changed(body), paths) }
    switch randomness.next(in: 0...21) {
    case 0: return change("number") { $0.number = amount }
    case 1:
      return change("number", "text") {
        $0.number += amount; $0.text = "\(amount)"
      }
    case 2: return change("list") { $0.list.append(amount) }
    case 3: return change("nested") { $0.nested = amount == 0 ? nil : .some(nil) }
    case 4: return change("child") { $0.child = leaf }
    case 5: return change("child", "hidden") { ($0.child, $0.hidden) = ($0.hidden, $0.child) }
    case 6: return change("optional") { $0.optional = nil }
    case 7: return change("optional") { $0.optional = leaf }
    case 8: return change("optional.count") { $0.optional?.count += amount }
    case 9: return change("phase") { $0.phase = .live(leaf) }
    case 10: return change("phase") { $0.phase = amount == 0 ? .idle : .failed("\(amount)") }
    case 11: return change("rows") { $0.rows.append(leaf, id: id) }
    case 12: return change("rows") { $0.rows.remove(id: id) }
    case 13: return change("rows.\(id)") { $0.rows[id: id]?.count += amount }
    case 14: return change("rows.\(id)") { $0.rows.modify(id: id) { $0.name = "\(amount)" } }
    case 15: return change("rows") { $0.rows.move(id: id, to: .first) }
    case 16: return change("rows") { $0.rows = KeyedCollection() }
    case 17: return (.child(leafAction), ["child"])
    case 18: return (.hidden(leafAction), ["hidden"])
    case 19: return (.optional(leafAction), ["optional"])
    case 20: return (.phase(leafAction), ["phase"])
    default: return (.rows(ElementAction(id: id, action: leafAction)), ["rows.\(id)"])
    }
  }

  /// Returns the leaves of a state by path.
  private func flat(_ zoo: Zoo) -> [String: String] {
    var result = [
      "number": "\(zoo.number)", "text": zoo.text, "list": "\(zoo.list)",
      "nested": "\(String(describing: zoo.nested))",
      "child.count": "\(zoo.child.count)", "child.name": zoo.child.name,
      "hidden.count": "\(zoo.hidden.count)", "hidden.name": zoo.hidden.name,
    ]
    switch zoo.phase {
    case .live(let leaf):
      result["phase.live.count"] = "\(leaf.count)"
      result["phase.live.name"] = leaf.name
      result["phase"] = "live"
    case .idle, .failed, .ended: result["phase"] = "\(zoo.phase)"
    }
    if let leaf = zoo.optional {
      result["optional.count"] = "\(leaf.count)"
      result["optional.name"] = leaf.name
    }
    for (place, id) in zoo.rows.ids.enumerated() {
      result["rows.\(id).count"] = "\(zoo.rows[id: id]?.count ?? -1)"
      result["rows.\(id).name"] = zoo.rows[id: id]?.name
      result["rows.\(id)"] = "\(place)"
    }
    return result
  }
}
