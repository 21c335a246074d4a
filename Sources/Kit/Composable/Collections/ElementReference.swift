/// Which element a handle belongs to.
@usableFromInline
struct ElementReference<ID: Hashable> {
  @usableFromInline let id: ID
  @usableFromInline let slot: KeyedSlot
  /// The collection in which the slot means something, or a copy of it.
  @usableFromInline let lineage: UInt64

  @inlinable
  init(id: ID, slot: KeyedSlot, lineage: UInt64) {
    self.id = id
    self.slot = slot
    self.lineage = lineage
  }
}

extension KeyedCollection {
  /// A reference to the element with the key.
  @inlinable
  mutating func reference(to id: ID) -> ElementReference<ID>? {
    guard let slot = slot(of: id) else { return nil }
    if lineage == 0 { lineage = Lineage.next() }
    return ElementReference(id: id, slot: slot, lineage: lineage)
  }

  /// Where the element is; nil if it is gone. In another collection it is the one with the same key.
  @inlinable
  func slot(of element: ElementReference<ID>) -> KeyedSlot? {
    guard element.lineage == lineage else { return slot(of: element.id) }
    guard contains(slot: element.slot), tenancies[element.slot.index].id == element.id else {
      return nil
    }
    return element.slot
  }

  /// Looks for the element and remembers where it is, for the action that comes next. Returns whether it is
  /// there.
  @inlinable
  mutating func expect(_ element: ElementReference<ID>) -> Bool {
    guard let slot = slot(of: element) else { return false }
    hint = slot.index
    return true
  }
}
