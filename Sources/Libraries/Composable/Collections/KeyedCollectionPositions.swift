/// Access to elements by their position in the order, starting at 0. Prefer keys where possible.
/// Finding a position is O(1) if no element was removed from the middle since the order was last
/// compacted, which is the usual case. Otherwise it is O(position).
extension KeyedCollection {
  /// The elements in order, as an array.
  ///
  /// - Complexity: O(n). To iterate without a copy, use the collection itself.
  @inlinable public var elements: [Element] { Array(self) }

  /// Returns the index of the element at a position, or `endIndex` for the position `count`.
  ///
  /// - Precondition: The position is between 0 and `count`.
  /// - Complexity: O(1) without gaps, otherwise O(position).
  @inlinable public func index(atPosition position: Int) -> Index {
    precondition(position >= 0 && position <= count, "there is no element at position \(position)")
    if order.gaps == 0 { return Index(place: position) }
    return index(startIndex, offsetBy: position)
  }

  /// The element at an index. A change happens in place, keeps the key, and is recorded as an
  /// update.
  ///
  /// - Complexity: O(1).
  @inlinable public subscript(index: Index) -> Element {
    _read { yield contents[Int(order.places[index.place])]! }
    _modify {
      let slot = Int(order.places[index.place])
      // The update is recorded first, because the accessor may change the element and then throw.
      recordUpdate(at: slot)
      yield &contents[slot]!
    }
  }

  /// The element at a position. A change happens in place, keeps the key, and is recorded as an
  /// update.
  ///
  /// - Precondition: The position is at least 0 and less than `count`.
  /// - Complexity: See ``index(atPosition:)``.
  @inlinable public subscript(position: Int) -> Element {
    _read { yield self[index(atPosition: position)] }
    _modify { yield &self[index(atPosition: position)] }
  }

  /// Removes the element at an index, which must be valid.
  ///
  /// - Complexity: O(1) amortised.
  @inlinable @discardableResult
  public mutating func remove(at index: Index) -> Element {
    let slot = Int(order.places[index.place])
    guard let element = contents[slot] else {
      preconditionFailure("there is no element at this index")
    }
    vacate(slot)
    return element
  }

  /// Removes the element at a position.
  ///
  /// - Precondition: The position is at least 0 and less than `count`.
  /// - Complexity: See ``index(atPosition:)``.
  @inlinable @discardableResult
  public mutating func remove(at position: Int) -> Element {
    remove(at: index(atPosition: position))
  }

  /// Removes the elements at these positions, for example an `IndexSet`. All positions refer to the
  /// order before the removal.
  ///
  /// - Complexity: O(n + m log m) for m positions.
  @inlinable public mutating func remove(atOffsets offsets: some Sequence<Int>) {
    for slot in slots(atOffsets: offsets) { vacate(slot) }
  }

  /// Moves the elements at these positions, in their order, before the element at `destination`, or
  /// to the end if that is `count`. All positions refer to the order before the move. The elements
  /// keep their slots.
  ///
  /// - Precondition: `destination` is between 0 and `count`.
  /// - Complexity: O(n + m log m) for m positions to the end, otherwise O(m n).
  @inlinable public mutating func move(
    fromOffsets offsets: some Sequence<Int>, toOffset destination: Int
  ) {
    var target = index(atPosition: destination)
    let moving = slots(atOffsets: offsets)
    let isMoving = Set(moving)
    // Finds the first element, at the destination or after it, that is not moved.
    while target != endIndex, isMoving.contains(Int(order.places[target.place])) {
      target = index(after: target)
    }
    let place = target == endIndex ? Place.last : .before(id(at: target))
    for slot in moving { move(id: tenancies[slot].id, to: place) }
  }

  /// Returns the slots of the elements at these positions, in order and without duplicates.
  @inlinable func slots(atOffsets offsets: some Sequence<Int>) -> [Int] {
    var sortedOffsets = Array(Set(offsets))
    sortedOffsets.sort()
    var (index, position) = (startIndex, 0)
    return sortedOffsets.map { offset in
      precondition(offset >= 0 && offset < count, "there is no element at position \(offset)")
      index =
        order.gaps == 0 ? Index(place: offset) : self.index(index, offsetBy: offset - position)
      position = offset
      return Int(order.places[index.place])
    }
  }
}

extension KeyedCollection {
  /// Removes the first element. The collection must not be empty.
  ///
  /// - Complexity: O(1) amortised.
  @inlinable @discardableResult
  public mutating func removeFirst() -> Element { remove(at: startIndex) }

  /// Removes the first `count` elements. The collection must have at least `count` elements.
  ///
  /// - Complexity: O(`count`) amortised.
  @inlinable public mutating func removeFirst(_ count: Int) {
    precondition(count >= 0 && count <= self.count, "there are fewer than \(count) elements")
    for _ in 0..<count { removeFirst() }
  }

  /// Removes the last element. The collection must not be empty.
  ///
  /// - Complexity: O(1) amortised.
  @inlinable @discardableResult
  public mutating func removeLast() -> Element { remove(at: index(before: endIndex)) }

  /// Removes the last `count` elements. The collection must have at least `count` elements.
  ///
  /// - Complexity: O(`count`) amortised.
  @inlinable public mutating func removeLast(_ count: Int) {
    precondition(count >= 0 && count <= self.count, "there are fewer than \(count) elements")
    for _ in 0..<count { removeLast() }
  }

  /// Removes and returns the last element, or returns `nil` if the collection is empty.
  ///
  /// - Complexity: O(1) amortised.
  @inlinable public mutating func popLast() -> Element? { isEmpty ? nil : removeLast() }
}
