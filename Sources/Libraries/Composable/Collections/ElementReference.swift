/// A reference to an element of a collection: its key, and the slot where it was found.
@usableFromInline
struct ElementReference<ID: Hashable> {
  @usableFromInline let id: ID
  @usableFromInline let slot: KeyedSlot
  /// The lineage in which the slot is valid. A collection shares its lineage with its copies.
  @usableFromInline let lineage: UInt64

  @inlinable
  init(id: ID, slot: KeyedSlot, lineage: UInt64) {
    self.id = id
    self.slot = slot
    self.lineage = lineage
  }
}

extension KeyedCollection {
  @inlinable
  mutating func reference(to id: ID) -> ElementReference<ID>? {
    guard let slot = slot(of: id) else { return nil }
    if lineage == 0 { lineage = Lineage.next() }
    return ElementReference(id: id, slot: slot, lineage: lineage)
  }

  /// Returns the slot of the referenced element, or nil if the element was removed. A collection of
  /// another lineage is searched by key.
  @inlinable
  func slot(of element: ElementReference<ID>) -> KeyedSlot? {
    guard element.lineage == lineage else { return slot(of: element.id) }
    guard contains(slot: element.slot), tenancies[element.slot.index].id == element.id else {
      return nil
    }
    return element.slot
  }

  /// Stores the slot of the element as a hint for the next action. Returns whether it exists.
  @inlinable
  mutating func expect(_ element: ElementReference<ID>) -> Bool {
    guard let slot = slot(of: element) else { return false }
    hint = slot.index
    return true
  }
}
