/// Numbers keys in the order in which they were inserted. Up to `linearLimit` keys are found by
/// linear search, which is faster than hashing for the few kinds and channels that streams have.
/// More keys are found by a dictionary, which is never iterated.
@usableFromInline struct KeyIndex<Key: Hashable> {
  @usableFromInline static var linearLimit: Int { 8 }

  @usableFromInline var keys: ContiguousArray<Key> = []
  /// Empty while there are at most `linearLimit` keys.
  @usableFromInline var positions: [Key: Int] = [:]

  @inlinable init() {}

  @inlinable var count: Int { keys.count }

  @inlinable func position(of key: Key) -> Int? {
    guard keys.count > Self.linearLimit else {
      return keys.firstIndex(of: key)
    }
    return positions[key]
  }

  /// Appends a key that is not in the index.
  @inlinable mutating func append(_ key: Key) {
    keys.append(key)
    if keys.count == Self.linearLimit + 1 {
      for (position, key) in keys.enumerated() { positions[key] = position }
    } else if keys.count > Self.linearLimit {
      positions[key] = keys.count - 1
    }
  }

  /// Removes all keys but keeps the storage.
  @inlinable mutating func removeAll() {
    keys.removeAll(keepingCapacity: true)
    if !positions.isEmpty { positions.removeAll(keepingCapacity: true) }
  }
}

extension KeyIndex: Sendable where Key: Sendable {}
