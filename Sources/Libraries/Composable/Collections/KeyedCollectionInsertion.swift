extension KeyedCollection {
  /// A target position in the order.
  public enum Place {
    /// Before all other elements.
    case first
    /// After all other elements.
    case last
    /// Before the element with this key.
    case before(ID)
    /// After the element with this key.
    case after(ID)
  }

  /// Inserts an element with a new key at the end.
  ///
  /// - Returns: The element's slot; nil, with nothing changed, if the key is already used.
  /// - Complexity: O(1) amortised.
  @inlinable @discardableResult
  public mutating func append(_ element: Element, id: ID) -> KeyedSlot? {
    insert(element, id: id, at: .last)
  }

  /// Inserts an element with a new key.
  ///
  /// - Returns: The element's slot; nil, with nothing changed, if the key is already used or if
  ///   `place` refers to an unknown key.
  /// - Complexity: O(1) amortised at the end, O(n) elsewhere.
  @inlinable @discardableResult
  public mutating func insert(_ element: Element, id: ID, at place: Place) -> KeyedSlot? {
    guard slots[id] == nil, let target = target(of: place) else { return nil }
    let slot: Int
    if let reused = free.popLast() {
      slot = Int(reused)
      contents[slot] = element
      tenancies[slot].id = id
    } else {
      slot = contents.count
      precondition(slot < Int(Int32.max), "a keyed collection holds fewer than 2^31 elements")
      contents.append(element)
      tenancies.append(Tenancy(id))
      changeRecord.marks.append([])
    }
    slots[id] = Int32(slot)
    enter(slot, before: target)
    changeRecord.record(.inserted, at: slot, count: count)
    return self.slot(at: slot)
  }

  /// Replaces the element with the key, or appends the element if there is none.
  ///
  /// - Returns: The element that was replaced, or nil.
  /// - Complexity: O(1) amortised.
  @inlinable @discardableResult
  public mutating func upsert(_ element: Element, id: ID) -> Element? {
    guard let slot = slots[id].map(Int.init) else {
      append(element, id: id)
      return nil
    }
    var element: Element? = element
    swap(&element, &contents[slot])
    recordUpdate(at: slot)
    return element
  }

  /// Moves an element, which keeps its slot.
  ///
  /// - Returns: Whether the element was moved. False, with nothing changed, if no element has the
  ///   key, or if `place` refers to an unknown key or to the element itself.
  /// - Complexity: Amortised O(1) to the end, O(n) elsewhere.
  @inlinable @discardableResult
  public mutating func move(id: ID, to place: Place) -> Bool {
    guard let slot = slots[id].map(Int.init) else { return false }
    switch place {
    case .before(let anchor), .after(let anchor):
      guard anchor != id, slots[anchor] != nil else { return false }
    case .first, .last: break
    }
    leave(slot)
    guard let target = target(of: place) else { preconditionFailure("the anchor was checked") }
    enter(slot, before: target)
    changeRecord.record(.moved, at: slot, count: count)
    return true
  }

  /// Returns the position before which to insert, or nil if `place` refers to an unknown key.
  @inlinable func target(of place: Place) -> Int? {
    switch place {
    case .first: order.first
    case .last: order.places.count
    case .before(let anchor): slots[anchor].map { Int(tenancies[Int($0)].place) }
    case .after(let anchor): slots[anchor].map { Int(tenancies[Int($0)].place) + 1 }
    }
  }

  @inlinable mutating func enter(_ slot: Int, before target: Int) {
    order.insert(Int32(slot), before: target) { slot, place in
      tenancies[Int(slot)].place = place
    }
  }

  @inlinable mutating func leave(_ slot: Int) {
    order.remove(at: Int(tenancies[slot].place)) { slot, place in
      tenancies[Int(slot)].place = place
    }
  }
}

extension KeyedCollection where Element: Identifiable, Element.ID == ID {
  /// Makes a collection of elements, in order. Of several elements with the same key, the last is
  /// kept, at the position of the first.
  @inlinable public init(_ elements: some Sequence<Element>) {
    self.init()
    for element in elements { upsert(element) }
  }

  /// Inserts an element with a new key at the end; see ``append(_:id:)``.
  @inlinable @discardableResult
  public mutating func append(_ element: Element) -> KeyedSlot? {
    append(element, id: element.id)
  }

  /// Inserts an element with a new key; see ``insert(_:id:at:)``.
  @inlinable @discardableResult
  public mutating func insert(_ element: Element, at place: Place) -> KeyedSlot? {
    insert(element, id: element.id, at: place)
  }

  /// Replaces the element with the same key, or appends the element; see ``upsert(_:id:)``.
  @inlinable @discardableResult
  public mutating func upsert(_ element: Element) -> Element? {
    upsert(element, id: element.id)
  }
}

extension KeyedCollection {
  /// Makes a collection of elements, in order, and reads each key once. Of several elements with
  /// the same key, the last is kept, at the position of the first.
  @inlinable public init(_ elements: some Sequence<Element>, id: KeyPath<Element, ID>) {
    self.init()
    for element in elements { upsert(element, id: element[keyPath: id]) }
  }
}

extension KeyedCollection.Place: Sendable where ID: Sendable {}
