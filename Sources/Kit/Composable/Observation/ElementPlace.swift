/// The node of one element of a collection. Owned by hand, by the node of the collection.
struct ElementPlace {
  let node: Unmanaged<PlaceNode>
  let generation: UInt32
}

extension PlaceNode {
  /// The node of the element in `slot`, if it is observed. O(1).
  @usableFromInline
  func element(_ slot: KeyedSlot) -> Unmanaged<PlaceNode>? {
    guard slot.index < elements.count, let place = elements[slot.index],
      place.generation == slot.generation
    else { return nil }
    return place.node
  }

  /// The node of the element in `slot`; made if it does not exist.
  func makeElement(_ slot: KeyedSlot, id: AnyHashable, ignored: FieldSet) -> PlaceNode {
    if let node = element(slot) { return node.takeUnretainedValue() }
    // The slot's previous element was removed, and the notes that say so were not drained yet.
    if slot.index < elements.count, let old = elements[slot.index] {
      deliveries.retire(old.node.takeRetainedValue())
    }
    let node = PlaceNode(deliveries: deliveries, ignored: ignored)
    put(.passRetained(node), at: slot, id: id)
    return node
  }

  private func put(_ node: Unmanaged<PlaceNode>, at slot: KeyedSlot, id: AnyHashable) {
    while elements.count <= slot.index {
      elements.append(nil)
      elementIDs.append(nil)
    }
    elements[slot.index] = ElementPlace(node: node, generation: slot.generation)
    elementIDs[slot.index] = id
  }

  /// Forgets the element that was in `slot`: the next one there is another element. Its observers are
  /// called one last time.
  @usableFromInline
  func removeElement(_ slot: KeyedSlot) {
    guard let node = element(slot) else { return }
    elements[slot.index] = nil
    elementIDs[slot.index] = nil
    deliveries.retire(node.takeRetainedValue())
  }

  /// Finds the observed elements again in a collection that is another one. O(observed elements).
  @usableFromInline
  func rehome<ID: Hashable>(_ find: (ID) -> KeyedSlot?) {
    let places = zip(elements, elementIDs)
    elements = []
    elementIDs = []
    for case (let place?, let key?) in places {
      if let id = key.base as? ID, let slot = find(id) {
        put(place.node, at: slot, id: key)
      } else {
        deliveries.retire(place.node.takeRetainedValue())
      }
    }
  }
}
