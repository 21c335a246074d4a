import DequeModule

/// Items in order for each key, taken in turn by key: however much one key has to do, another waits
/// for one item of it at most.
package struct FairQueue<Key: Hashable & Sendable, Item: Sendable>: Sendable {
  /// The first item of each key, in the order of their turns. Most keys have no other.
  private var turns: Deque<(key: Key, item: Item)> = []
  /// What the keys have behind that; one that has nothing more is there with nothing.
  private var lines: [Key: Deque<Item>] = [:]
  /// The key whose turn it is, once its item was taken.
  private var current: Key?

  package init() {}

  package var isEmpty: Bool { lines.isEmpty }

  /// Adds an item behind all of its key.
  ///
  /// - Complexity: O(1) amortised.
  package mutating func append(_ item: Item, for key: Key) {
    if lines[key]?.append(item) == nil {
      lines[key] = []
      turns.append((key, item))
    }
  }

  /// Takes out the first item of the key whose turn it is; `nil` if there is nothing to do.
  /// ``endTurn(leaving:)`` must follow.
  package mutating func takeFirst() -> Item? {
    guard let (key, item) = turns.popFirst() else { return nil }
    current = key
    return item
  }

  /// Ends the turn of the key whose turn it is.
  ///
  /// - Parameter item: what was taken, if it is not done: it is the first one again when the other
  ///   keys had their turns.
  /// - Complexity: O(1) amortised.
  package mutating func endTurn(leaving item: Item? = nil) {
    guard let key = exchange(&current, with: nil) else { return }
    if let next = item ?? lines[key]?.popFirst() {
      turns.append((key, next))
    } else {
      lines[key] = nil
    }
  }
}
