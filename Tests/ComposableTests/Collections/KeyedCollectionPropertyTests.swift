import Composable
import TestSupport
import Testing

/// Compares a keyed collection with the simplest type that behaves the same.
private struct Comparison {
  struct Element: Equatable {
    var id: Int
    var value: Int
  }

  var generator: SplitMix64
  var collection = KeyedCollection<Int, Int>()
  var model: [Element] = []
  /// The model at the last reading of the changes.
  var before: [Element] = []
  var slots: [Int: KeyedSlot] = [:]
  var gone: [KeyedSlot] = []

  mutating func step(keys: Int) {
    let id = generator.pick(0..<keys)
    let at = model.firstIndex { $0.id == id }
    switch generator.pick(0..<10) {
    case 0, 1, 2:
      let (place, target) = place(without: nil)
      let slot = collection.insert(id, id: id, at: place)
      #expect((slot != nil) == (at == nil && target != nil))
      if let slot, let target {
        model.insert(Element(id: id, value: id), at: target)
        slots[id] = slot
      }
    case 3, 4:
      #expect(collection.remove(id: id) == at.map { model[$0].value })
      if let at { forget(at) }
    case 5:
      let (place, target) = place(without: id)
      let moved = collection.move(id: id, to: place)
      #expect(moved == (at != nil && target != nil))
      if moved, let at, let target { model.insert(model.remove(at: at), at: target) }
    case 6 where generator.pick(0..<40) == 0:
      let parity = generator.pick(0..<2)
      collection.removeAll { $0 & 1 == parity }
      for at in model.indices.reversed() where model[at].value & 1 == parity { forget(at) }
    case 7 where generator.pick(0..<100) == 0:
      collection.removeAll()
      for at in model.indices.reversed() { forget(at) }
    case 8 where generator.pick(0..<40) == 0:
      collection.sort { ($0, 0) < ($1, 0) }
      // Equal values may have any order, so the model adopts the order of the collection.
      let order = collection.ids
      model.sort { order.firstIndex(of: $0.id) ?? 0 < order.firstIndex(of: $1.id) ?? 0 }
      #expect(zip(model, model.dropFirst()).allSatisfy { $0.value <= $1.value })
    default:
      let value = generator.pick(0..<1_000)
      if generator.pick(0..<2) == 0 {
        #expect((collection.modify(id: id) { $0 = value } != nil) == (at != nil))
      } else if let slot = slots[id] {
        #expect(collection.modify(slot: slot) { $0 = value } != nil)
      }
      if let at { model[at].value = value }
    }
  }

  /// Returns a random place, and its position in the model, which is nil if the place is relative
  /// to an element that does not exist. The position is valid after the element `moving` was
  /// removed.
  mutating func place(without moving: Int?) -> (KeyedCollection<Int, Int>.Place, Int?) {
    let rest = model.filter { $0.id != moving }
    let anchor = generator.pick(0..<60)
    let at = rest.firstIndex { $0.id == anchor }
    return switch generator.pick(0..<5) {
    case 0: (.first, 0)
    case 1: (.before(anchor), at)
    case 2: (.after(anchor), at.map { $0 + 1 })
    default: (.last, rest.count)
    }
  }

  mutating func forget(_ at: Int) {
    let id = model.remove(at: at).id
    if let slot = slots.removeValue(forKey: id) { gone.append(slot) }
  }

  func checkContent() {
    #expect(collection.count == model.count)
    #expect(collection.ids == model.map(\.id))
    #expect(collection.elementsEqual(model.map(\.value)))
    #expect(collection.reversed() == model.reversed().map(\.value))
    for element in model {
      #expect(collection[id: element.id] == element.value)
      #expect(collection.slot(of: element.id) == slots[element.id])
    }
    #expect(Set(slots.values.map(\.index)).count == model.count)
    #expect(slots.values.allSatisfy { $0.index < collection.slotLimit })
    for slot in gone.suffix(50) { #expect(!collection.contains(slot: slot)) }
  }

  mutating func checkChanges() {
    let changes = collection.takeChanges()
    if !changes.isEverything {
      let removed = Set(changes.removed.map(\.id))
      let inserted = Set(changes.inserted.map(\.id))
      let (moved, updated) = (Set(changes.moved.map(\.id)), Set(changes.updated.map(\.id)))
      let ids = Set(before.map(\.id))
      #expect(ids.subtracting(removed).union(inserted) == Set(model.map(\.id)))
      #expect(removed.isSubset(of: ids))
      #expect(ids.subtracting(removed).isDisjoint(with: inserted))
      #expect(moved.union(updated).isSubset(of: ids.subtracting(removed)))
      let unmoved = { (element: Element) in
        !removed.contains(element.id) && !inserted.contains(element.id)
          && !moved.contains(element.id)
      }
      #expect(before.filter(unmoved).map(\.id) == model.filter(unmoved).map(\.id))
      let old = Dictionary(uniqueKeysWithValues: before.map { ($0.id, $0.value) })
      for element in model where !inserted.contains(element.id) && !updated.contains(element.id) {
        #expect(old[element.id] == element.value)
      }
      let lists = [changes.inserted, changes.moved, changes.updated]
      for entry in lists.joined() { #expect(slots[entry.id] == entry.slot) }
      for entry in changes.removed { #expect(!collection.contains(slot: entry.slot)) }
      for list in lists + [changes.removed] { #expect(Set(list.map(\.id)).count == list.count) }
    }
    #expect(!collection.hasChanges && collection.takeChanges().isEmpty)
    before = model
  }
}

@Suite struct KeyedCollectionPropertyTests {
  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `a keyed collection behaves like an array of pairs`(seed: UInt64) {
    var comparison = Comparison(generator: SplitMix64(seed: seed))
    let batch = 1 + Int(seed) * 2
    for step in 0..<3_000 {
      comparison.step(keys: 60)
      if step % 7 == 0 { comparison.checkContent() }
      if step % batch == 0 { comparison.checkChanges() }
    }
    comparison.checkContent()
  }

  @Test func `a queue whose oldest element is always removed stays small and ordered`() {
    var queue = KeyedCollection<Int, Int>()
    for number in 0..<100_000 {
      queue.append(number, id: number)
      if number >= 50 {
        #expect(queue.first == number - 50)
        queue.remove(id: number - 50)
      }
    }
    #expect(queue.ids == Array(99_950..<100_000))
    #expect(queue.slotLimit == 51)
  }
}
