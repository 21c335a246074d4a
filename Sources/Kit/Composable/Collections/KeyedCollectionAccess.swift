extension KeyedCollection {
  /// The element with a key. Setting it replaces the element in its place, or appends one, or
  /// removes it if set to nil; changing a part of it (`collection[id: key]?.name = "x"`) happens in
  /// place.
  ///
  /// A change by this subscript is noted as an update even if it leaves the value as it was; see
  /// ``update(_:id:)`` for one that compares.
  ///
  /// - Complexity: O(1).
  @inlinable public subscript(id id: ID) -> Element? {
    get {
      guard let slot = slots[id] else { return nil }
      return elements[Int(slot)]
    }
    @inline(__always) _modify {
      if let slot = slots[id].map(Int.init) {
        defer {
          // Nil in an occupied slot is what the caller left there: the element is to go.
          if elements[slot] == nil { vacate(slot) } else { noteUpdate(at: slot) }
        }
        yield &elements[slot]
      } else {
        var element: Element?
        defer { if let element { append(element, id: id) } }
        yield &element
      }
    }
  }

  /// The element in a slot; nil if the element that the slot was obtained for is gone.
  ///
  /// - Complexity: O(1), without hashing.
  @inlinable public subscript(slot slot: KeyedSlot) -> Element? {
    contains(slot: slot) ? elements[slot.index] : nil
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
    return try body(&elements[slot]!)
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
    guard let slot = slots[id].map(Int.init), elements[slot] != element else { return false }
    elements[slot] = element
    noteUpdate(at: slot)
    return true
  }
}
