extension KeyedCollection {
  /// The element with a key. Setting it replaces the element in its place, or appends one, or
  /// removes it if set to nil; changing a part of it (`collection[id: key]?.name = "x"`) happens in
  /// place.
  ///
  /// The key alone decides where an element is found. An element with an `id` of its own is not asked for it, so set
  /// only elements whose `id` is the key: ``updateOrAppend(_:)`` takes the key from the element.
  ///
  /// A change by this subscript is noted as an update even if it leaves the value as it was; see
  /// ``update(_:id:)`` for one that compares.
  ///
  /// - Complexity: O(1). Changing through optional chaining allocates the accessor's frame, which
  ///   `modify(id:_:)` does not.
  @inlinable public subscript(id id: ID) -> Element? {
    get {
      guard let slot = slots[id] else { return nil }
      return contents[Int(slot)]
    }
    @inline(__always) _modify {
      // One yield for all cases, of an element moved out and back rather than copied: with more
      // the accessor could not be inlined and would allocate its frame.
      let slot = slots[id].map(Int.init) ?? -1
      var element: Element?
      if slot >= 0 { swap(&element, &contents[slot]) }
      defer { putBack(&element, in: slot, id: id) }
      yield &element
    }
  }

  /// The element in a slot; nil if the element that the slot was obtained for is gone.
  ///
  /// - Complexity: O(1), without hashing.
  @inlinable public subscript(slot slot: KeyedSlot) -> Element? {
    contains(slot: slot) ? contents[slot.index] : nil
  }

  /// Changes the element with a key in place.
  ///
  /// - Returns: what `body` returned; nil if there is no such element.
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
  /// - Returns: what `body` returned; nil if the element that the slot was obtained for is gone.
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
    // Noted first, so that a body that throws half way does not leave a change unnoted.
    noteUpdate(at: slot)
    return try body(&contents[slot]!)
  }

  @inlinable mutating func putBack(_ element: inout Element?, in slot: Int, id: ID) {
    if slot >= 0, element != nil {
      swap(&element, &contents[slot])
      noteUpdate(at: slot)
    } else if slot >= 0 {
      vacate(slot)
    } else if let element {
      append(element, id: id)
    }
  }

  @inlinable mutating func noteUpdate(at slot: Int) {
    notes.note(.updated, at: slot, count: count)
  }
}

extension KeyedCollection where Element: Equatable {
  /// Replaces the element with a key; an equal one changes nothing and is not noted.
  ///
  /// - Returns: whether there is such an element and it changed.
  /// - Complexity: O(1).
  @inlinable @discardableResult
  public mutating func update(_ element: Element, id: ID) -> Bool {
    guard let slot = slots[id].map(Int.init), contents[slot] != element else { return false }
    contents[slot] = element
    noteUpdate(at: slot)
    return true
  }
}
