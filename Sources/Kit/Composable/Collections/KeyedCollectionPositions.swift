/// Elements by their position in the order, from 0. A position costs a look-up where a key does not: prefer keys.
///
/// While no element was removed from the middle since the order was last compacted, which is the usual case,
/// finding a position is O(1); otherwise it is O(position).
extension KeyedCollection {
  /// The elements in order, as an array.
  ///
  /// - Complexity: O(n). The collection itself is a `Collection`, so that iteration needs no copy.
  @inlinable public var elements: [Element] { Array(self) }

  /// The index of the element at a position; `endIndex` for the number of elements.
  ///
  /// - Precondition: the position is from 0 to `count`.
  /// - Complexity: O(1) without gaps, otherwise O(position).
  @inlinable public func index(atPosition position: Int) -> Index {
    precondition(position >= 0 && position <= count, "there is no element at position \(position)")
    if order.gaps == 0 { return Index(place: position) }
    return index(startIndex, offsetBy: position)
  }

  /// The element at an index. Changing it happens in place and is noted as an update; the key stays.
  ///
  /// - Complexity: O(1).
  @inlinable public subscript(index: Index) -> Element {
    _read { yield contents[Int(order.places[index.place])]! }
    _modify {
      let slot = Int(order.places[index.place])
      // Noted first, so that a change that throws half way is noted.
      noteUpdate(at: slot)
      yield &contents[slot]!
    }
  }

  /// The element at a position. Changing it happens in place and is noted as an update; the key stays.
  ///
  /// - Precondition: the position is from 0 up to, but not including, `count`.
  /// - Complexity: see ``index(atPosition:)``.
  @inlinable public subscript(position: Int) -> Element {
    _read { yield self[index(atPosition: position)] }
    _modify { yield &self[index(atPosition: position)] }
  }

  /// Removes the element at an index, which the collection must have.
  ///
  /// - Complexity: O(1) amortised.
  @inlinable @discardableResult
  public mutating func remove(at index: Index) -> Element {
    let slot = Int(order.places[index.place])
    guard let element = contents[slot] else { preconditionFailure("there is no element there") }
    vacate(slot)
    return element
  }

  /// Removes the element at a position.
  ///
  /// - Precondition: the position is from 0 up to, but not including, `count`.
  /// - Complexity: see ``index(atPosition:)``.
  @inlinable @discardableResult
  public mutating func remove(at position: Int) -> Element {
    remove(at: index(atPosition: position))
  }

  /// Removes the elements at these positions, which are those before the removal. An `IndexSet` will do.
  ///
  /// - Complexity: O(n + m log m) for m positions.
  @inlinable public mutating func remove(atOffsets offsets: some Sequence<Int>) {
    for slot in slots(atOffsets: offsets) { vacate(slot) }
  }

  /// Moves the elements at these positions, in their order, to before the element that is at another one; to the
  /// end if that is `count`. All positions are those before the move. The elements keep their slots.
  ///
  /// - Precondition: `destination` is from 0 to `count`.
  /// - Complexity: O(n + m log m) for m positions to the end, otherwise O(m n).
  @inlinable public mutating func move(
    fromOffsets offsets: some Sequence<Int>, toOffset destination: Int
  ) {
    var target = index(atPosition: destination)
    let moving = slots(atOffsets: offsets)
    let isMoving = Set(moving)
    // The first element at or after the destination that stays.
    while target != endIndex, isMoving.contains(Int(order.places[target.place])) {
      target = index(after: target)
    }
    let place = target == endIndex ? Place.last : .before(id(at: target))
    for slot in moving { move(id: tenancies[slot].id, to: place) }
  }

  /// The slots of the elements at these positions, in order and each once.
  @inlinable func slots(atOffsets offsets: some Sequence<Int>) -> [Int] {
    var wanted = Array(Set(offsets))
    wanted.sort()
    var (index, position) = (startIndex, 0)
    return wanted.map { offset in
      precondition(offset >= 0 && offset < count, "there is no element at position \(offset)")
      index =
        order.gaps == 0 ? Index(place: offset) : self.index(index, offsetBy: offset - position)
      position = offset
      return Int(order.places[index.place])
    }
  }
}

// From the ends.
extension KeyedCollection {
  /// Removes the first element of a collection that is not empty.
  ///
  /// - Complexity: O(1) amortised.
  @inlinable @discardableResult
  public mutating func removeFirst() -> Element { remove(at: startIndex) }

  /// Removes the first `count` elements, of which there must be as many.
  ///
  /// - Complexity: O(`count`) amortised.
  @inlinable public mutating func removeFirst(_ count: Int) {
    precondition(count >= 0 && count <= self.count, "there are fewer than \(count) elements")
    for _ in 0..<count { removeFirst() }
  }

  /// Removes the last element of a collection that is not empty.
  ///
  /// - Complexity: O(1) amortised.
  @inlinable @discardableResult
  public mutating func removeLast() -> Element { remove(at: index(before: endIndex)) }

  /// Removes the last `count` elements, of which there must be as many.
  ///
  /// - Complexity: O(`count`) amortised.
  @inlinable public mutating func removeLast(_ count: Int) {
    precondition(count >= 0 && count <= self.count, "there are fewer than \(count) elements")
    for _ in 0..<count { removeLast() }
  }

  /// Removes the last element; `nil` if there is none.
  ///
  /// - Complexity: O(1) amortised.
  @inlinable public mutating func popLast() -> Element? { isEmpty ? nil : removeLast() }
}
