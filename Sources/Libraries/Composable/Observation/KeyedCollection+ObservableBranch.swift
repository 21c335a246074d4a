/// Makes a collection of child states observable: each element is observed at its slot. Reporting
/// visits only the elements that were accessed since the last report.
extension KeyedCollection: ObservableBranch where Element: ObservableBranch {
  @inlinable
  public mutating func _$enter(stamp: UInt64) -> UInt64 {
    self.stamp = stamp
    return stamp
  }

  @inlinable
  public mutating func _$leave(token: UInt64) -> Bool {
    defer { stamp = 0 }
    return stamp == token
  }

  @inlinable
  public mutating func _$drain(into node: ObservationNode?, replaced: Bool) -> Bool {
    guard hasChanges || replaced else { return false }
    if replaced || changeRecord.isEverything {
      return drainEverything(into: node, replaced: replaced)
    }
    for entry in changeRecord.removed { node?.removeElement(entry.slot) }
    var changed = !changeRecord.removed.isEmpty
    // Iterates over indices, because an iterator would retain a reference.
    for position in changeRecord.listed.indices {
      let index = Int(changeRecord.listed[position])
      guard contents[index] != nil else { continue }
      let marks = changeRecord.marks[index]
      let isNew = !marks.isDisjoint(with: [.inserted, .updated])
      let inside = drainElement(at: index, into: node, replaced: isNew)
      if !inside, marks == [.listed, .entered] {
        // The element was accessed but not changed, so no observer is called.
        changeRecord.marks[index] = .listed
      } else {
        if inside { changeRecord.marks[index].insert(.updated) }
        changed = true
      }
    }
    return reportChanges(node, changed)
  }

  @inlinable @inline(__always)
  mutating func drainElement(at index: Int, into node: ObservationNode?, replaced: Bool) -> Bool {
    guard let elementNode = node?.element(slot(at: index)) else {
      return contents[index]!._$drain(into: nil, replaced: replaced)
    }
    return elementNode._withUnsafeGuaranteedRef {
      contents[index]!._$drain(into: $0, replaced: replaced)
    }
  }

  /// Reports the whole collection as changed. Observers of an element are moved to the element with
  /// the same key.
  @usableFromInline
  mutating func drainEverything(into node: ObservationNode?, replaced: Bool) -> Bool {
    if replaced { node?.rehome { id in self.slot(of: id) } }
    for index in contents.indices where contents[index] != nil {
      _ = drainElement(at: index, into: node, replaced: replaced)
    }
    if !replaced { node?.rehome { id in self.slot(of: id) } }
    return reportChanges(node, true)
  }

  @inlinable
  mutating func reportChanges(_ node: ObservationNode?, _ changed: Bool) -> Bool {
    if let node, node.wantsElementChanges {
      let changes = takeChanges()
      if changed { reportElements(node, changes) }
    } else {
      changeRecord.clear()
    }
    return changed
  }

  @usableFromInline
  func reportElements(_ node: ObservationNode, _ changes: KeyedChanges<ID>) {
    node.reportElements(changes)
  }
}

extension KeyedCollection where Element: ObservableBranch {
  /// Changes the element with a key in place, and records only the changes inside it.
  ///
  /// - Returns: The result of `body`, or nil if there is no such element.
  /// - Complexity: O(1).
  @inlinable @discardableResult
  public mutating func modify<Result>(
    id: ID, _ body: (inout Element) -> Result
  ) -> Result? {
    guard let slot = index(of: id) else { return nil }
    return enter(slot, body)
  }

  /// Changes the element in a slot in place, and records only the changes inside it.
  ///
  /// - Returns: The result of `body`, or nil if the element for which the slot was obtained was
  ///   removed.
  /// - Complexity: O(1), without hashing.
  @inlinable @discardableResult
  public mutating func modify<Result>(
    slot: KeyedSlot, _ body: (inout Element) -> Result
  ) -> Result? {
    guard contains(slot: slot) else { return nil }
    return enter(slot.index, body)
  }

  @inlinable
  mutating func enter<Result>(_ slot: Int, _ body: (inout Element) -> Result) -> Result {
    let token = contents[slot]!._$enter(stamp: Stamp.of(field: slot, in: stamp))
    let result = body(&contents[slot]!)
    let isSame = contents[slot]!._$leave(token: token)
    changeRecord.record(isSame ? .entered : .updated, at: slot, count: count)
    return result
  }
}

extension KeyedCollection where Element: ObservableBranch {
  /// The element with a key. Setting an element replaces the old element in its place or appends a
  /// new element; setting nil removes the element. `collection[id: key]?.name = "x"` changes a part
  /// of an element in place and records only that change.
  ///
  /// - Complexity: O(1).
  @inlinable public subscript(id id: ID) -> Element? {
    get {
      guard let slot = slots[id] else { return nil }
      return contents[Int(slot)]
    }
    @inline(__always) _modify {
      let slot = slots[id].map(Int.init) ?? -1
      var element: Element?
      var token: UInt64 = 0
      if slot >= 0 {
        swap(&element, &contents[slot])
        token = element._$enter(stamp: Stamp.of(field: slot, in: stamp))
      }
      defer { putBack(&element, in: slot, id: id, token: token) }
      yield &element
    }
  }

  @inlinable
  mutating func putBack(_ element: inout Element?, in slot: Int, id: ID, token: UInt64) {
    guard slot >= 0, element != nil else {
      putBack(&element, in: slot, id: id)
      return
    }
    let isSame = element._$leave(token: token)
    swap(&element, &contents[slot])
    changeRecord.record(isSame ? .entered : .updated, at: slot, count: count)
  }
}

extension KeyedCollection where Element: ObservableBranch {
  /// The element at an index. A change of a part of the element happens in place, keeps the key,
  /// and records only that part.
  ///
  /// - Complexity: O(1).
  @inlinable public subscript(index: Index) -> Element {
    _read { yield contents[Int(order.places[index.place])]! }
    _modify {
      let slot = Int(order.places[index.place])
      let token = contents[slot]!._$enter(stamp: Stamp.of(field: slot, in: stamp))
      defer {
        let isSame = contents[slot]!._$leave(token: token)
        changeRecord.record(isSame ? .entered : .updated, at: slot, count: count)
      }
      yield &contents[slot]!
    }
  }

  /// The element at a position. A change of a part of the element happens in place, keeps the key,
  /// and records only that part.
  ///
  /// - Precondition: The position is at least 0 and less than `count`.
  /// - Complexity: See ``index(atPosition:)``.
  @inlinable public subscript(position: Int) -> Element {
    _read { yield self[index(atPosition: position)] }
    _modify { yield &self[index(atPosition: position)] }
  }
}
