/// The observation node of one element. The node of the collection retains and releases it
/// manually.
struct ElementNode {
  let node: Unmanaged<ObservationNode>
  let generation: UInt32
}

extension ObservationNode {
  /// Returns the node of the element in `slot`, or nil if it is not observed. O(1).
  @usableFromInline
  func element(_ slot: KeyedSlot) -> Unmanaged<ObservationNode>? {
    guard slot.index < elements.count, let entry = elements[slot.index],
      entry.generation == slot.generation
    else { return nil }
    return entry.node
  }

  func makeElement(_ slot: KeyedSlot, id: AnyHashable, ignored: FieldSet) -> ObservationNode {
    if let node = element(slot) { return node.takeUnretainedValue() }
    // The slot's previous element was removed, and that change is not reported yet.
    if slot.index < elements.count, let old = elements[slot.index] {
      deliveries.retire(old.node.takeRetainedValue())
    }
    let node = ObservationNode(deliveries: deliveries, ignored: ignored)
    put(.passRetained(node), at: slot, id: id)
    return node
  }

  private func put(_ node: Unmanaged<ObservationNode>, at slot: KeyedSlot, id: AnyHashable) {
    while elements.count <= slot.index {
      elements.append(nil)
      elementIDs.append(nil)
    }
    elements[slot.index] = ElementNode(node: node, generation: slot.generation)
    elementIDs[slot.index] = id
  }

  /// Removes the node of the element in `slot`, so that the next element in the slot counts as
  /// different. The node's observers are called one last time.
  @usableFromInline
  func removeElement(_ slot: KeyedSlot) {
    guard let node = element(slot) else { return }
    elements[slot.index] = nil
    elementIDs[slot.index] = nil
    deliveries.retire(node.takeRetainedValue())
  }

  /// Moves the nodes of observed elements to the elements with the same keys in another collection.
  /// O(n) in the number of observed elements.
  @usableFromInline
  func rehome<ID: Hashable>(_ find: (ID) -> KeyedSlot?) {
    let entries = zip(elements, elementIDs)
    elements = []
    elementIDs = []
    for case (let entry?, let key?) in entries {
      if let id = key.base as? ID, let slot = find(id) {
        put(entry.node, at: slot, id: key)
      } else {
        deliveries.retire(entry.node.takeRetainedValue())
      }
    }
  }
}
