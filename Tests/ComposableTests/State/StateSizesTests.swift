import Composable
import Synchronization
import Testing

private struct Table: Equatable {
  var title = "table"
  var cells: [[Int]] = []
  var isShown = true
}

/// A value with a collection and many numbers, which counts how often reflection makes a child.
private struct Counted: Equatable, CustomReflectable {
  final class Children: RandomAccessCollection, Sendable {
    let made = Atomic(0)
    let startIndex = 0
    let endIndex = 100
    subscript(position: Int) -> Any {
      made.add(1, ordering: .relaxed)
      return position == 0 ? [1, 2, 3] as Any : position
    }
  }

  let children = Children()
  var customMirror: Mirror {
    Mirror(self, unlabeledChildren: children, displayStyle: .struct)
  }
  static func == (left: Self, right: Self) -> Bool { left.children === right.children }
}

@ObservableState
private struct Counting: Equatable {
  var counted = Counted()
}

@ObservableState
private struct Item: Equatable, Identifiable {
  var id: Int = 0
  var tags: [String] = []
}

@ObservableState
private enum Stage: Equatable {
  case waiting
  case live(Item)
}

@ObservableState
private struct Screen: Equatable {
  var count: Int = 0
  var text: String = ""
  var numbers: [Int] = []
  var names: [String: Int] = [:]
  var set: Set<Int>?
  var log = Log<Int>(capacity: 3)
  var table = Table()
  var later: Table?
  var item = Item()
  var sheet: Item?
  var items = KeyedCollection<Int, Item>()
  var more: KeyedCollection<Int, Item>?
  var phase: Stage = .waiting
}

struct StateSizesTests {
  private func look(_ sizes: inout StateSizes, _ state: Screen) -> [String: Int] {
    sizes.look(at: state)
    return Dictionary(uniqueKeysWithValues: zip(sizes.paths, sizes.counts)).filter { $0.value > 0 }
  }

  @Test func `the sizes of collections are found at any depth of a state`() {
    var state = Screen()
    var sizes = StateSizes()
    #expect(look(&sizes, state).isEmpty)
    state.text = "häh"
    state.numbers = [1, 2, 3]
    state.names = ["a": 1]
    state.set = [1, 2]
    state.log.append(contentsOf: 0..<5)
    state.table.cells = [[1], [2]]
    state.item.tags = ["x"]
    state.sheet = Item(tags: ["x", "y"])
    for id in 0..<3 { state.items.append(Item(id: id, tags: ["a", "b"])) }
    state.more = state.items
    state.phase = .live(Item(tags: ["z"]))
    #expect(
      look(&sizes, state) == [
        "text": 4, "numbers": 3, "names": 1, "set": 2, "log": 3, "table.cells": 2, "item.tags": 1,
        "sheet.tags": 2, "items": 3, "items[].tags": 6, "more": 3, "more[].tags": 6,
        "phase.live.tags": 1,
      ])
    state = Screen()
    #expect(look(&sizes, state).isEmpty)
  }

  @Test func `a collection that appears later is found within four measurements`() {
    var state = Screen()
    var sizes = StateSizes()
    _ = look(&sizes, state)
    state.later = Table(cells: [[1]])
    let found = (0..<4).map { _ in look(&sizes, state)["later.cells"] }
    #expect(found.contains(1))
  }

  @Test func `after 1,000 measurements, a new collection is found within 1,300 more`() {
    var state = Screen()
    var sizes = StateSizes()
    for _ in 0..<1_000 { _ = look(&sizes, state) }
    state.later = Table(cells: [[1]])
    let found = (0..<1_300).map { _ in look(&sizes, state)["later.cells"] }
    #expect(found.contains(1))
  }

  @Test func `the size of many elements is estimated from a sample`() {
    var state = Screen()
    for id in 0..<1_000 { state.items.append(Item(id: id, tags: ["a"])) }
    var sizes = StateSizes()
    #expect((950...1_050).contains(look(&sizes, state)["items[].tags"] ?? 0))
  }
  @Test func `children without collections are made less and less often`() {
    let state = Counting()
    var sizes = StateSizes()
    for _ in 0..<50 {
      sizes.look(at: state)
      #expect(sizes["counted.0"] == 3)
    }
    // About half of the looks search by reflection, but only six of them search all children.
    #expect(state.counted.children.made.load(ordering: .relaxed) < 10 * 100)
  }
}
