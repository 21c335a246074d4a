import DequeModule

/// Items in order for each key, taken in turn by key: however much one key has to do, another waits for
/// one item of it at most.
package struct FairQueue<Key: Hashable & Sendable, Item: Sendable>: Sendable {
  private var lines: [Key: Deque<Item>] = [:]
  /// The keys that have items, in the order of their turns.
  private var keys: Deque<Key> = []

  package init() {}

  package var isEmpty: Bool { lines.isEmpty }

  /// Adds an item behind all of its key.
  ///
  /// - Complexity: O(1) amortised.
  package mutating func append(_ item: Item, for key: Key) {
    if lines[key]?.append(item) == nil {
      lines[key] = [item]
      keys.append(key)
    }
  }

  /// Takes out the first item of the key whose turn it is; `nil` if there is nothing to do. ``endTurn(leaving:)`` must
  /// follow.
  package mutating func takeFirst() -> Item? { keys.first.flatMap { lines[$0]?.popFirst() } }

  /// Ends the turn of the key whose turn it is.
  ///
  /// - Parameter item: what was taken, if it is not done: it is the first one again when the other keys had their turns.
  /// - Complexity: O(1) amortised.
  package mutating func endTurn(leaving item: Item? = nil) {
    let key = keys.removeFirst()
    if let item { lines[key]?.prepend(item) }
    if lines[key]?.isEmpty == true { lines[key] = nil } else { keys.append(key) }
  }
}
