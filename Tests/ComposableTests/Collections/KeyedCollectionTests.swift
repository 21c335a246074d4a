import Composable
import Foundation
import Testing

private struct Item: Identifiable, Hashable, Codable {
  var id: String
  var value = 0
}

private typealias Items = KeyedCollection<String, Item>

private func items(_ names: String) -> Items {
  var items = Items(names.map { Item(id: "\($0)") })
  _ = items.takeChanges()
  return items
}

extension Items {
  fileprivate var names: String { ids.joined() }
}

extension KeyedChanges<String> {
  /// Describes changes: `+` inserted, `-` removed, `>` moved, `~` updated.
  fileprivate var drawn: String {
    guard !isEverything else { return "everything" }
    return
      (removed.map { "-" + $0.id } + inserted.map { "+" + $0.id }
      + moved.map { ">" + $0.id } + updated.map { "~" + $0.id }).joined(separator: " ")
  }
}

@Suite struct KeyedCollectionTests {
  @Test func `elements are in insertion order and are found by key`() {
    let items = items("cab")
    #expect(items.names == "cab" && items.count == 3)
    #expect(items.map(\.id) == ["c", "a", "b"])
    #expect(items.reversed().map(\.id) == ["b", "a", "c"])
    #expect(items[id: "a"] == Item(id: "a") && items[id: "z"] == nil)
    #expect(items.contains(id: "b") && !items.contains(id: "z"))
    #expect(items.index(id: "a").map { items[$0].id } == "a")
    #expect(items.index(id: "z") == nil)
    #expect(items.first?.id == "c" && items.last?.id == "b")
  }

  @Test func `each key occurs at most once in a keyed collection`() {
    var items = items("ab")
    #expect(items.append(Item(id: "a", value: 1)) == nil)
    #expect(items[id: "a"]?.value == 0)
    #expect(items.upsert(Item(id: "a", value: 2))?.value == 0)
    #expect(items.upsert(Item(id: "c")) == nil)
    #expect(items.names == "abc" && items[id: "a"]?.value == 2)
    let doubled = Items([Item(id: "x", value: 1), Item(id: "y"), Item(id: "x", value: 2)])
    #expect(doubled.map(\.value) == [2, 0])
  }

  @Test func `the key of an element comes from a key path or from the caller`() {
    var words = KeyedCollection<Int, String>(["one", "three"], id: \.count)
    words.append("seven", id: 7)
    #expect(words[id: 5] == "three" && words[id: 7] == "seven")
    #expect(words.ids == [3, 5, 7])
  }

  @Test(
    arguments: [
      ("first", "xabc"), ("last", "abcx"), ("<a", "xabc"), ("<b", "axbc"), (">b", "abxc"),
      (">c", "abcx"), ("<z", "abc"), (">z", "abc"),
    ])
  func `elements can be inserted at a position`(place: String, expected: String) {
    var items = items("abc")
    let slot = items.insert(Item(id: "x"), at: Self.place(place))
    #expect(items.names == expected)
    #expect((slot != nil) == (expected.count == 4))
  }

  @Test(
    arguments: [
      ("b", "first", "bacd"), ("b", "last", "acdb"), ("d", "<b", "adbc"), ("a", ">c", "bcad"),
      ("a", "<a", "abcd"), ("a", "<z", "abcd"), ("z", "first", "abcd"), ("a", "first", "abcd"),
      ("d", "last", "abcd"), ("b", ">a", "abcd"),
    ])
  func `elements can be moved to a position`(name: String, place: String, expected: String) {
    var items = items("abcd")
    let slot = items.slot(of: name)
    items.move(id: name, to: Self.place(place))
    #expect(items.names == expected)
    #expect(items.slot(of: name) == slot, "the slot is kept")
  }

  private static func place(_ name: String) -> Items.Place {
    switch name {
    case "first": .first
    case "last": .last
    default: name.first == "<" ? .before("\(name.dropFirst())") : .after("\(name.dropFirst())")
    }
  }

  @Test
  func `slots of elements are stable, reused after a removal, and distinguished by generation`()
    throws
  {
    var items = items("abc")
    let (a, b) = (try #require(items.slot(of: "a")), try #require(items.slot(of: "b")))
    items.remove(id: "a")
    #expect(items.slot(of: "b") == b && items[slot: b]?.id == "b")
    #expect(!items.contains(slot: a) && items[slot: a] == nil && items.id(of: a) == nil)
    #expect(items.modify(slot: a) { $0.value = 1 } == nil)
    let inserted = items.append(Item(id: "d"))
    let d = try #require(inserted)
    #expect(d.index == a.index && d != a)
    #expect(items.id(of: d) == "d" && items[slot: a] == nil)
    #expect(items.slotLimit == 3)
    items.removeAll()
    items.append(Item(id: "e"))
    #expect(!items.contains(slot: b) && !items.contains(slot: d))
    #expect(items.slotLimit == 3)
  }

  @Test func `the subscript by key changes, inserts and removes elements`() {
    var items = items("abc")
    items[id: "b"]?.value = 5
    #expect(items[id: "b"]?.value == 5)
    items[id: "z"]?.value = 5
    #expect(items.names == "abc")
    items[id: "d"] = Item(id: "d")
    items[id: "a"] = nil
    items[id: "z"] = nil
    #expect(items.names == "bcd")
    #expect(items.takeChanges().drawn == "-a +d ~b")
  }

  @Test func `changes happen in place and do not affect a copy`() throws {
    var lists = KeyedCollection<Int, [Int]>()
    for key in 0..<10 { lists.append([key, key], id: key) }
    let slot = try #require(lists.slot(of: 3))
    let address = lists[id: 3]?.address
    lists.modify(id: 3) { $0[0] += 1 }
    lists.modify(slot: slot) { $0[0] += 1 }
    lists[id: 3]?[0] += 1
    #expect(lists[id: 3] == [6, 3])
    #expect(lists[id: 3]?.address == address)
    let copy = lists
    lists.modify(id: 3) { $0[0] = 0 }
    lists.remove(id: 4)
    #expect(copy[id: 3] == [6, 3] && copy.count == 10)
    #expect(lists[id: 3] == [0, 3] && lists.count == 9)
  }

  @Test func `a change is recorded even if its closure throws`() {
    struct Failure: Error {}
    var items = items("a")
    #expect(throws: Failure.self) {
      try items.modify(id: "a") { item throws(Failure) in
        item.value = 1
        throw Failure()
      }
    }
    #expect(items.takeChanges().drawn == "~a")
  }

  @Test func `elements can be removed by a predicate and sorted`() {
    var items = items("cabd")
    items.removeAll { $0.id == "a" || $0.id == "d" }
    #expect(items.names == "cb")
    _ = items.takeChanges()
    items.sort { $0.id < $1.id }
    #expect(items.names == "bc" && items.takeChanges().isEverything)
    items.sort { $0.id < $1.id }
    #expect(items.takeChanges().isEmpty)
    items.move(id: "b", to: .last)
    #expect(items.names == "cb")
  }

  @Test func `equality, hash and coding depend only on the ordered elements`() throws {
    var built = items("xabc")
    built.remove(id: "x")
    built.modify(id: "a") { $0.value = 0 }
    let plain = Items("abc".map { Item(id: "\($0)") })
    #expect(built == plain && built.hashValue == plain.hashValue)
    #expect(built.slot(of: "a") != plain.slot(of: "a"))
    #expect(plain != items("acb") && plain != items("ab"))
    let copy = built
    built.move(id: "a", to: .last)
    #expect(built != copy)
    let data = try JSONEncoder().encode(built)
    let decoded = try JSONDecoder().decode(Items.self, from: data)
    #expect(decoded == built)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(
        Items.self, from: Data(#"[{"id":"a","value":1},{"id":"a","value":2}]"#.utf8))
    }
  }
}

@Suite struct KeyedCollectionChangesTests {
  @Test func `a new collection reports once that everything changed`() {
    var empty = Items()
    #expect(empty.hasChanges && empty.takeChanges().isEverything)
    #expect(!empty.hasChanges && empty.takeChanges().isEmpty)
    var full = Items([Item(id: "a")])
    #expect(full.takeChanges().isEverything)
    full.removeAll()
    #expect(full.takeChanges().isEverything)
    full.removeAll()
    #expect(full.takeChanges().isEmpty)
  }

  @Test func `several changes of an element are reported once`() {
    var items = items("abcd")
    for _ in 0..<100 { items.modify(id: "a") { $0.value += 1 } }
    items.move(id: "a", to: .last)
    items.append(Item(id: "e"))
    items.modify(id: "e") { $0.value = 1 }
    items.move(id: "e", to: .first)
    items.remove(id: "b")
    #expect(items.takeChanges().drawn == "-b +e >a ~a")
    #expect(items.takeChanges().isEmpty)
  }

  @Test func `an element inserted and removed in one batch is not reported`() {
    var items = items("a")
    items.append(Item(id: "b"))
    items.modify(id: "b") { $0.value = 1 }
    items.remove(id: "b")
    #expect(items.takeChanges().isEmpty)
    items.append(Item(id: "c"))
    items.remove(id: "c")
    items.append(Item(id: "d"))
    #expect(items.takeChanges().drawn == "+d")
  }

  @Test func `an element removed and inserted again is reported with both slots`() throws {
    var items = items("ab")
    let old = items.slot(of: "a")
    items.remove(id: "a")
    items.append(Item(id: "a"))
    let changes = items.takeChanges()
    #expect(changes.drawn == "-a +a")
    #expect(changes.removed.first?.slot == old)
    #expect(changes.inserted.first?.slot == items.slot(of: "a"))
    #expect(changes.removed.first?.slot != changes.inserted.first?.slot)
  }

  @Test func `an update with an equal value is not recorded`() {
    var items = items("a")
    #expect(items.update(Item(id: "a"), id: "a") == false)
    #expect(items.update(Item(id: "z"), id: "z") == false)
    #expect(items.takeChanges().isEmpty)
    #expect(items.update(Item(id: "a", value: 1), id: "a") == true)
    #expect(items.takeChanges().drawn == "~a")
  }

  @Test func `more changes than elements are reported as a change of everything`() {
    var numbers = KeyedCollection<Int, Int>(0..<1_000, id: \.self)
    _ = numbers.takeChanges()
    for number in 0..<400 { numbers.remove(id: number) }
    #expect(numbers.takeChanges().removed.count == 400)
    for number in 400..<800 { numbers.remove(id: number) }
    #expect(numbers.takeChanges().isEverything)
    numbers.modify(id: 900) { $0 += 1 }
    #expect(numbers.takeChanges().updated.map(\.id) == [900])
  }

  @Test func `two copies record their changes separately`() {
    var one = items("ab")
    var other = one
    one.modify(id: "a") { $0.value = 1 }
    other.remove(id: "b")
    #expect(one.takeChanges().drawn == "~a")
    #expect(other.takeChanges().drawn == "-b")
  }
}
