import DequeModule

/// A queue that keeps the items of each key in order and serves the keys alternately. Between two
/// items of a key, at most one item of each other key is served.
package struct FairQueue<Key: Hashable & Sendable, Item: Sendable>: Sendable {
  /// The first item of each key, in the order of the keys' turns. Most keys have only one item.
  private var turns: Deque<(key: Key, item: Item)> = []
  /// The further items of each key; empty for a key with only one item.
  private var lines: [Key: Deque<Item>] = [:]
  /// The key whose item was taken and whose turn has not ended.
  private var current: Key?

  package init() {}

  package var isEmpty: Bool { lines.isEmpty }

  /// Adds an item after all items of its key, in O(1) amortised.
  package mutating func append(_ item: Item, for key: Key) {
    if lines[key]?.append(item) == nil {
      lines[key] = []
      turns.append((key, item))
    }
  }

  /// Removes and returns the next item; `nil` if the queue is empty. Call ``endTurn(leaving:)``
  /// afterwards.
  package mutating func removeFirst() -> Item? {
    guard let (key, item) = turns.popFirst() else { return nil }
    current = key
    return item
  }

  /// Ends the turn of the key whose item was taken, in O(1) amortised.
  ///
  /// - Parameter item: the taken item, if it is unfinished. The item is returned again after the
  ///   other keys had their turns, before all other items of its key.
  package mutating func endTurn(leaving item: Item? = nil) {
    guard let key = exchange(&current, with: nil) else { return }
    if let next = item ?? lines[key]?.popFirst() {
      turns.append((key, next))
    } else {
      lines[key] = nil
    }
  }
}
