/// Iterates over the elements in order.
extension KeyedCollection: BidirectionalCollection {
  /// A position in the order, valid until an element is inserted, moved or removed.
  public struct Index: Hashable, Comparable, Sendable {
    @usableFromInline let place: Int

    @inlinable init(place: Int) { self.place = place }

    @inlinable public static func < (left: Index, right: Index) -> Bool {
      left.place < right.place
    }
  }

  @inlinable public var startIndex: Index { Index(place: order.first) }
  @inlinable public var endIndex: Index { Index(place: order.places.count) }

  /// - Complexity: O(1) amortised over an iteration.
  @inlinable public func index(after index: Index) -> Index {
    Index(place: order.next(from: index.place + 1))
  }

  /// - Complexity: O(1) amortised over an iteration.
  @inlinable public func index(before index: Index) -> Index {
    Index(place: order.previous(before: index.place))
  }

  /// Returns the key of the element at an index.
  @inlinable public func id(at index: Index) -> ID { tenancies[Int(order.places[index.place])].id }

  /// Returns the slot of the element at an index.
  @inlinable public func slot(at index: Index) -> KeyedSlot {
    slot(at: Int(order.places[index.place]))
  }

  /// Returns the index of the element with a key, or nil if there is none.
  ///
  /// - Complexity: O(1).
  @inlinable public func index(id: ID) -> Index? {
    slots[id].map { Index(place: Int(tenancies[Int($0)].place)) }
  }
}

extension KeyedCollection: Equatable where Element: Equatable {
  /// Returns whether both collections have the same keys and elements in the same order.
  @inlinable public static func == (left: Self, right: Self) -> Bool {
    guard left.count == right.count else { return false }
    if left.sharesStorage(with: right) { return true }
    var (one, other) = (left.startIndex, right.startIndex)
    while one != left.endIndex {
      guard left.id(at: one) == right.id(at: other), left[one] == right[other] else {
        return false
      }
      one = left.index(after: one)
      other = right.index(after: other)
    }
    return true
  }

  /// Returns whether two copies share their storage because neither has changed since the copy.
  @inlinable func sharesStorage(with other: Self) -> Bool {
    contents.withUnsafeBufferPointer { mine in
      other.contents.withUnsafeBufferPointer { $0.baseAddress == mine.baseAddress }
    }
      && order.places.withUnsafeBufferPointer { mine in
        other.order.places.withUnsafeBufferPointer { $0.baseAddress == mine.baseAddress }
      }
  }
}

extension KeyedCollection: Hashable where Element: Hashable {
  @inlinable public func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    for index in indices {
      hasher.combine(id(at: index))
      hasher.combine(self[index])
    }
  }
}

/// Encodes the elements as an array. Decoding reads the keys from the elements.
extension KeyedCollection: Encodable where Element: Encodable {
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for element in self { try container.encode(element) }
  }
}

extension KeyedCollection: Decodable
where Element: Decodable & Identifiable, Element.ID == ID {
  /// - Throws: `DecodingError.dataCorrupted` if two elements have the same key.
  public init(from decoder: any Decoder) throws {
    self.init()
    var container = try decoder.unkeyedContainer()
    while !container.isAtEnd {
      guard append(try container.decode(Element.self)) != nil else {
        throw DecodingError.dataCorruptedError(
          in: container, debugDescription: "two elements have the same key")
      }
    }
  }
}

extension KeyedCollection: CustomReflectable {
  /// A mirror of the elements in order, so that dumps and differences show nothing else.
  public var customMirror: Mirror {
    Mirror(self, unlabeledChildren: self, displayStyle: .collection)
  }
}
