extension KeyedCollection {
  /// Removes the element with a key. All other elements keep their slots and their order.
  ///
  /// - Returns: The removed element, or nil if there was none.
  /// - Complexity: O(1) amortised.
  @inlinable @discardableResult
  public mutating func remove(id: ID) -> Element? {
    guard let slot = slots[id].map(Int.init) else { return nil }
    let element = contents[slot]
    vacate(slot)
    return element
  }

  /// Removes the elements for which `isRemoved` returns true.
  ///
  /// - Complexity: O(n).
  @inlinable public mutating func removeAll<Failure: Error>(
    where isRemoved: (Element) throws(Failure) -> Bool
  ) throws(Failure) {
    // Iterates over slots, because a removal may close the gaps of the order.
    for slot in contents.indices {
      guard let element = contents[slot], try isRemoved(element) else { continue }
      vacate(slot)
    }
  }

  /// Removes all elements and records that everything changed.
  ///
  /// - Complexity: O(n). The storage is kept, so that generations distinguish old slots from new
  ///   ones.
  @inlinable public mutating func removeAll() {
    guard !slots.isEmpty else { return }
    removals &+= 1
    free.removeAll(keepingCapacity: true)
    for slot in contents.indices.reversed() {
      if contents[slot] != nil { tenancies[slot].generation &+= 1 }
      contents[slot] = nil
      free.append(Int32(slot))
    }
    slots.removeAll(keepingCapacity: true)
    order.removeAll()
    changeRecord.clear()
    changeRecord.isEverything = true
  }

  /// Sorts the elements, which keep their slots. Records that everything changed, unless the
  /// elements were already in order.
  ///
  /// - Complexity: O(n log n).
  @inlinable public mutating func sort(
    by areInIncreasingOrder: (Element, Element) throws -> Bool
  ) rethrows {
    order.closeGaps { slot, place in tenancies[Int(slot)].place = place }
    let old = order.places
    var sorted = Array(old)
    try sorted.sort { left, right in
      try areInIncreasingOrder(contents[Int(left)]!, contents[Int(right)]!)
    }
    guard !old.elementsEqual(sorted) else { return }
    order.places = ContiguousArray(sorted)
    for (place, slot) in sorted.enumerated() { tenancies[Int(slot)].place = Int32(place) }
    changeRecord.clear()
    changeRecord.isEverything = true
  }

  /// Frees an occupied slot, whose element may already be nil. Not inlined, so that the inlined
  /// subscript contains only its common path.
  @inlinable @inline(never) mutating func vacate(_ slot: Int) {
    let entry = KeyedChanges.Entry(id: tenancies[slot].id, slot: self.slot(at: slot))
    contents[slot] = nil
    removals &+= 1
    slots[entry.id] = nil
    leave(slot)
    tenancies[slot].generation &+= 1
    free.append(Int32(slot))
    changeRecord.recordRemoval(of: entry, count: count)
  }
}
