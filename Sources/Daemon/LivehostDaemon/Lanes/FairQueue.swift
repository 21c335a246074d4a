/// Items in order for each key, taken in turn by key: however much one key has to do, another waits for
/// one item of it at most.
package struct FairQueue<Key: Hashable & Sendable, Item: Sendable>: Sendable {
  /// The items of a key; those before `first` are done.
  private struct Line: Sendable {
    var items: [Item?]
    var first = 0
  }

  private var lines: [Key: Line] = [:]
  /// The keys that have items, in the order of their turns; those before `turn` have had theirs.
  private var keys: [Key] = []
  private var turn = 0

  package init() {}

  package var isEmpty: Bool { lines.isEmpty }

  /// Adds an item behind all of its key.
  ///
  /// - Complexity: O(1) amortised.
  package mutating func append(_ item: Item, for key: Key) {
    if lines[key]?.items.append(item) == nil {
      lines[key] = Line(items: [item])
      keys.append(key)
    }
  }

  /// The first item of the key whose turn it is; `nil` if there is nothing to do.
  package var first: Item? {
    guard turn < keys.count, let line = lines[keys[turn]] else { return nil }
    return line.items[line.first]
  }

  /// Ends the turn of the key whose turn it is.
  ///
  /// - Parameter isDone: whether its first item is done; otherwise it is the first one again when the
  ///   other keys had their turns.
  /// - Complexity: O(1) amortised.
  package mutating func endTurn(isDone: Bool) {
    let key = keys[turn]
    turn += 1
    if isDone, let index = lines[key]?.first {
      lines[key]?.items[index] = nil
      lines[key]?.first = index + 1
    }
    if let line = lines[key], line.first == line.items.count {
      lines[key] = nil
    } else {
      compact(key)
      keys.append(key)
    }
    if turn * 2 > keys.count {
      keys.removeFirst(turn)
      turn = 0
    }
  }

  /// Forgets items that are done once they are more than those that are not.
  private mutating func compact(_ key: Key) {
    guard let line = lines[key], line.first > 16, line.first * 2 > line.items.count else { return }
    lines[key]?.items.removeFirst(line.first)
    lines[key]?.first = 0
  }
}
