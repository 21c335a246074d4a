/// The node of one element of a collection.
struct ElementPlace {
  let node: PlaceNode
  let generation: UInt32
  /// The key, by which the element is found again when the collection is replaced as a whole.
  let id: AnyHashable
}

extension PlaceNode {
  /// The node of the element in `slot`, if it is observed. O(1).
  @usableFromInline
  func element(_ slot: KeyedSlot) -> PlaceNode? {
    guard slot.index < elements.count, let place = elements[slot.index],
      place.generation == slot.generation
    else { return nil }
    return place.node
  }

  /// The node of the element in `slot`; made if it does not exist.
  func makeElement(_ slot: KeyedSlot, id: AnyHashable, ignored: FieldSet) -> PlaceNode {
    if let node = element(slot) { return node }
    while elements.count <= slot.index { elements.append(nil) }
    // The slot's previous element was removed, and the notes that say so were not drained yet.
    if let old = elements[slot.index] { deliveries.retire(old.node) }
    let node = PlaceNode(deliveries: deliveries, ignored: ignored)
    elements[slot.index] = ElementPlace(node: node, generation: slot.generation, id: id)
    return node
  }

  /// Forgets the element that was in `slot`: the next one there is another element. Its observers are
  /// called one last time.
  @usableFromInline
  func removeElement(_ slot: KeyedSlot) {
    guard let node = element(slot) else { return }
    elements[slot.index] = nil
    deliveries.retire(node)
  }

  /// Finds the observed elements again in a collection that is another one. O(observed elements).
  @usableFromInline
  func rehome<ID: Hashable>(_ find: (ID) -> KeyedSlot?) {
    let places = elements
    elements = []
    for case let place? in places {
      guard let id = place.id.base as? ID, let slot = find(id) else {
        deliveries.retire(place.node)
        continue
      }
      while elements.count <= slot.index { elements.append(nil) }
      elements[slot.index] = ElementPlace(
        node: place.node, generation: slot.generation, id: place.id)
    }
  }
}
