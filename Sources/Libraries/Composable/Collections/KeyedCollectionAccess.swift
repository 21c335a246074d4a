extension KeyedCollection {
  /// The element with a key. Setting an element replaces the old element in its place or appends a
  /// new element; setting nil removes the element. `collection[id: key]?.name = "x"` changes a part
  /// of an element in place.
  ///
  /// Set only elements whose own `id` equals the key, because the subscript does not read the `id`.
  /// To use the element's own `id` as the key, call ``updateOrAppend(_:)``.
  ///
  /// A change through this subscript is recorded as an update even if the value stays equal. Use
  /// ``update(_:id:)`` to compare first.
  ///
  /// - Complexity: O(1). A change through optional chaining allocates the accessor's frame;
  ///   `modify(id:_:)` does not.
  @inlinable public subscript(id id: ID) -> Element? {
    get {
      guard let slot = slots[id] else { return nil }
      return contents[Int(slot)]
    }
    @inline(__always) _modify {
      // A single `yield` serves all cases, because an accessor with several `yield` statements is
      // not inlined and allocates its frame. The element is moved out and back instead of copied.
      let slot = slots[id].map(Int.init) ?? -1
      var element: Element?
      if slot >= 0 { swap(&element, &contents[slot]) }
      defer { putBack(&element, in: slot, id: id) }
      yield &element
    }
  }

  /// The element in a slot, or nil if the element for which the slot was obtained was removed.
  ///
  /// - Complexity: O(1), without hashing.
  @inlinable public subscript(slot slot: KeyedSlot) -> Element? {
    contains(slot: slot) ? contents[slot.index] : nil
  }

  /// Changes the element with a key in place.
  ///
  /// - Returns: The result of `body`, or nil if there is no such element.
  /// - Complexity: O(1).
  @inlinable @discardableResult
  public mutating func modify<Result, Failure: Error>(
    id: ID, _ body: (inout Element) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard let slot = slots[id] else { return nil }
    return try modify(at: Int(slot), body)
  }

  /// Changes the element in a slot in place.
  ///
  /// - Returns: The result of `body`, or nil if the element for which the slot was obtained was
  ///   removed.
  /// - Complexity: O(1), without hashing.
  @inlinable @discardableResult
  public mutating func modify<Result, Failure: Error>(
    slot: KeyedSlot, _ body: (inout Element) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard contains(slot: slot) else { return nil }
    return try modify(at: slot.index, body)
  }

  @inlinable mutating func modify<Result, Failure: Error>(
    at slot: Int, _ body: (inout Element) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    // The update is recorded first, because `body` may change the element and then throw.
    recordUpdate(at: slot)
    return try body(&contents[slot]!)
  }

  @inlinable mutating func putBack(_ element: inout Element?, in slot: Int, id: ID) {
    if slot >= 0, element != nil {
      swap(&element, &contents[slot])
      recordUpdate(at: slot)
    } else if slot >= 0 {
      vacate(slot)
    } else if let element {
      append(element, id: id)
    }
  }

  @inlinable mutating func recordUpdate(at slot: Int) {
    changeRecord.record(.updated, at: slot, count: count)
  }
}

extension KeyedCollection where Element: Equatable {
  /// Replaces the element with a key. If the new element is equal to the old one, nothing changes
  /// and no update is recorded.
  ///
  /// - Returns: Whether such an element exists and has changed.
  /// - Complexity: O(1).
  @inlinable @discardableResult
  public mutating func update(_ element: Element, id: ID) -> Bool {
    guard let slot = slots[id].map(Int.init), contents[slot] != element else { return false }
    contents[slot] = element
    recordUpdate(at: slot)
    return true
  }
}
