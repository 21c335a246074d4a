import Composable
import TestSupport
import Testing

@ObservableState
private struct Seat: Equatable, Identifiable, Sendable {
  let id: Int
  var value = 0
}

private struct Tag: Equatable, Identifiable { let id: Int }

/// Compares access to rows by position with a plain array.
private struct PositionsComparison {
  var generator: SplitMix64
  var rows: KeyedCollectionOf<Seat> = []
  var model: [Seat] = []
  /// The model at the last reading of the changes.
  var before: [Seat] = []
  var lastID = 0

  mutating func newRows(_ count: Int) -> [Seat] {
    (0..<count).map { _ in
      lastID += 1
      return Seat(id: lastID)
    }
  }

  mutating func position() -> Int { generator.pick(0..<model.count) }
  mutating func gap() -> Int { generator.pick(0..<(model.count + 1)) }
  mutating func positions() -> [Int] {
    (0..<generator.pick(0..<min(6, model.count + 1))).map { _ in position() }
  }

  mutating func step() {
    if model.isEmpty { append() }
    switch generator.pick(0..<12) {
    case 0: append()
    case 1: insert()
    case 2: updateOrAppend()
    case 3:
      let position = position()
      #expect(rows.remove(at: position) == model.remove(at: position))
    case 4:
      let offsets = positions()
      rows.remove(atOffsets: offsets)
      let ids = offsets.map { model[$0].id }
      model.removeAll { ids.contains($0.id) }
    case 5: move()
    case 6: ends()
    case 7:
      let row = model[position()]
      #expect(rows.remove(row) == row)
      model.removeAll { $0 == row }
    default:
      let (position, value) = (position(), generator.pick(0..<3))
      if generator.oneIn(2) {
        rows[position].value = value
      } else {
        rows[rows.index(atPosition: position)].value = value
      }
      model[position].value = value
    }
  }

  mutating func append() {
    let new = newRows(generator.pick(1..<4)) + model.prefix(1)
    rows.append(contentsOf: new)
    model += new.filter { row in !model.contains { $0.id == row.id } }
  }

  mutating func insert() {
    let (row, gap) = (newRows(1)[0], gap())
    #expect(rows.insert(row, at: gap) != nil)
    model.insert(row, at: gap)
    #expect(rows.insert(row, at: 0) == nil)
  }

  mutating func updateOrAppend() {
    let (position, row) = (position(), newRows(1)[0])
    let changed = Seat(id: model[position].id, value: -1)
    #expect(rows.updateOrAppend(changed) == model[position])
    #expect(rows.updateOrAppend(row) == nil)
    model[position] = changed
    model.append(row)
  }

  mutating func move() {
    let (offsets, gap) = (positions(), gap())
    rows.move(fromOffsets: offsets, toOffset: gap)
    let ids = offsets.map { model[$0].id }
    let isMoving = { (row: Seat) in ids.contains(row.id) }
    let (head, tail) = (model[..<gap], model[gap...])
    model =
      head.filter { !isMoving($0) } + model.filter(isMoving) + tail.filter { !isMoving($0) }
  }

  mutating func ends() {
    let count = generator.pick(0..<min(3, model.count + 1))
    switch generator.pick(0..<5) {
    case 0: #expect(rows.removeFirst() == model.removeFirst())
    case 1: #expect(rows.removeLast() == model.removeLast())
    case 2:
      rows.removeFirst(count)
      model.removeFirst(count)
    case 3:
      rows.removeLast(count)
      model.removeLast(count)
    default: #expect(rows.popLast() == model.popLast())
    }
  }

  func checkContent() {
    #expect(rows.elements == model && rows.ids == model.map(\.id))
    for (position, row) in model.enumerated() { #expect(rows[position] == row) }
    #expect(rows.index(atPosition: model.count) == rows.endIndex)
  }

  /// Checks that the recorded changes explain the difference between the previous and the current
  /// rows.
  mutating func checkChanges() {
    let changes = rows.takeChanges()
    defer { before = model }
    guard !changes.isEverything else { return }
    let ids = { (entries: [KeyedChanges<Int>.Entry]) in Set(entries.map(\.id)) }
    let (removed, inserted) = (ids(changes.removed), ids(changes.inserted))
    #expect(Set(before.map(\.id)).subtracting(removed).union(inserted) == Set(model.map(\.id)))
    let isUnmoved = { (row: Seat) in
      !removed.union(inserted).union(ids(changes.moved)).contains(row.id)
    }
    #expect(before.filter(isUnmoved).map(\.id) == model.filter(isUnmoved).map(\.id))
    let old = Dictionary(uniqueKeysWithValues: before.map { ($0.id, $0.value) })
    for row in model where !inserted.union(ids(changes.updated)).contains(row.id) {
      #expect(old[row.id] == row.value)
    }
  }
}

struct KeyedCollectionPositionsTests {
  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func `positions behave like array indices, and the recorded changes match the actual ones`(
    seed: UInt64
  ) {
    var comparison = PositionsComparison(generator: SplitMix64(seed: seed))
    for step in 0..<2_000 {
      comparison.step()
      if step % 5 == 0 { comparison.checkContent() }
      if step % Int(seed) == 0 { comparison.checkChanges() }
    }
    comparison.checkContent()
  }

  @Test func `a change of an element through its position notifies only observers of this element`()
  {
    let store = Store.mutable(Table(rows: [Seat(id: 5), Seat(id: 6)]))
    let calls = Calls()
    let rows = store.place.child(\.rows)
    let observers = [5, 6].map { id in
      rows.element(store.state.rows.slot(of: id)!, id: id).observe(\.value) {
        calls.record("\(id)")
      }
    }
    store.send(Mutation { $0.rows[1].value = 1 })
    #expect(calls.taken() == ["6"])
    store.send(Mutation { $0.rows[$0.rows.startIndex].value = 1 })
    #expect(calls.taken() == ["5"])
    store.send(Mutation { $0.rows[0].value = 1 })
    #expect(calls.taken() == [], "an equal value is not a change")
    _ = observers
  }

  @Test func `an array literal keeps the order of its elements`() {
    let rows: KeyedCollectionOf<Tag> = [Tag(id: 2), Tag(id: 1)]
    #expect(rows.ids == [2, 1] && rows == KeyedCollection(uniqueElements: [2, 1].map(Tag.init)))
    #expect(rows != [] && ([] as KeyedCollection<Int, String>).isEmpty)
    let path: StackState<String> = ["a", "b"]
    #expect(path.ids == [0, 1] && path.elements == ["a", "b"])
    let screens: StackState<Tag> = [Tag(id: 7)]
    #expect(screens.ids == [0], "a stack also numbers elements that have keys")
  }

  @Test func `a literal with duplicate keys or without keys traps`() async {
    await #expect(processExitsWith: .failure) {
      _ = [Tag(id: 1), Tag(id: 1)] as KeyedCollectionOf<Tag>
    }
    await #expect(processExitsWith: .failure) { _ = ["a"] as KeyedCollection<Int, String> }
  }
}

@ObservableState
private struct Table: Equatable, Sendable {
  var rows: KeyedCollectionOf<Seat> = []
}
