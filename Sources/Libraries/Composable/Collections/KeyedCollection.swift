/// An ordered collection whose elements are found by key.
///
/// Every element has a key, which is passed on insertion, and a *slot*, which stays the same until
/// the element is removed. The collection records its changes until ``takeChanges()`` is called, so
/// observers need not compare elements.
///
/// Equality, hashing and coding use the keys and elements in order, but not the slots and recorded
/// changes.
///
/// - Complexity: Access and change by key or slot are O(1), in place and without allocation.
///   Appending and removing are amortised O(1). Iteration is O(n). Inserting and moving are O(n)
///   except at the end. Changing an element of a collection with shared storage copies the storage
///   of the elements, but not the order or the keys.
public struct KeyedCollection<ID: Hashable, Element> {
  /// The elements by slot; nil in free slots.
  @usableFromInline var contents: ContiguousArray<Element?> = []
  /// The key, generation and place of each slot.
  @usableFromInline var tenancies: ContiguousArray<Tenancy> = []
  @usableFromInline var free: ContiguousArray<Int32> = []
  /// The slots by key. Never iterated, because the order of a dictionary differs between runs.
  @usableFromInline var slots: [ID: Int32] = [:]
  @usableFromInline var order = KeyedCollectionOrder()
  @usableFromInline var changeRecord = KeyedCollectionChangeRecord<ID>()
  /// A mark that is set by in-place access and lost when the collection is replaced.
  @usableFromInline var stamp: UInt64 = 0
  /// The number of removals so far. A reducer whose elements have effects compares this number with
  /// an earlier number to detect removals.
  @usableFromInline var removals: UInt64 = 0
  /// The number of the last check for removals, which is lost when the collection is replaced.
  @usableFromInline var mark: UInt64 = 0
  /// A number that a collection shares with its copies. Slots of two collections can be compared
  /// only if their lineages are equal. 0 until needed.
  @usableFromInline var lineage: UInt64 = 0
  /// The slot to try before a look-up by key; set by ``expect(_:)``.
  @usableFromInline var hint = 0

  @usableFromInline struct Tenancy {
    /// The key; in a free slot, the key of the last element.
    @usableFromInline var id: ID
    /// The number of elements that used the slot before.
    @usableFromInline var generation: UInt32 = 0
    @usableFromInline var place: Int32 = 0

    @inlinable init(_ id: ID) { self.id = id }
  }

  /// Makes an empty collection, which reports that everything changed, because it may be assigned
  /// to an observed variable in place of another collection.
  @inlinable public init() {}

  /// The number of elements.
  @inlinable public var count: Int { slots.count }

  /// Returns whether an element has the key.
  @inlinable public func contains(id: ID) -> Bool { slots[id] != nil }

  /// Returns the slot of the element with the key, or nil if there is none.
  @inlinable public func slot(of id: ID) -> KeyedSlot? {
    index(of: id).map { slot(at: $0) }
  }

  /// Returns the index of the slot of the element with the key.
  @inlinable func index(of id: ID) -> Int? {
    if hint < contents.count, tenancies[hint].id == id, contents[hint] != nil { return hint }
    return slots[id].map(Int.init)
  }

  /// Returns the key of the element in a slot, or nil if that element was removed.
  @inlinable public func id(of slot: KeyedSlot) -> ID? {
    contains(slot: slot) ? tenancies[slot.index].id : nil
  }

  /// Returns whether the element for which the slot was obtained still exists.
  @inlinable public func contains(slot: KeyedSlot) -> Bool {
    slot.index < tenancies.count && tenancies[slot.index].generation == slot.generation
      && contents[slot.index] != nil
  }

  /// The upper bound of all slot indices: the largest number of elements that existed at the same
  /// time. Never shrinks.
  @inlinable public var slotLimit: Int { contents.count }

  /// The keys in order.
  ///
  /// - Complexity: O(n).
  @inlinable public var ids: [ID] {
    var ids: [ID] = []
    ids.reserveCapacity(count)
    for slot in order.places where slot != KeyedCollectionOrder.gap {
      ids.append(tenancies[Int(slot)].id)
    }
    return ids
  }

  @inlinable func slot(at index: Int) -> KeyedSlot {
    KeyedSlot(index: index, generation: tenancies[index].generation)
  }
}

extension KeyedCollection: Sendable where ID: Sendable, Element: Sendable {}
extension KeyedCollection.Tenancy: Sendable where ID: Sendable {}
