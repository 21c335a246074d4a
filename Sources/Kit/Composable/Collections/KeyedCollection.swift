/// Elements in an order of their own, each found by its key.
///
/// Every element has a key, given when it is inserted and not asked of the element again, and a
/// *slot*, which stays the same for its life. The collection notes what changed since the last
/// call of ``takeChanges()``, so observers need not compare.
///
/// Equality, hash and coding see the keys and elements in order, and neither slots nor notes.
///
/// - Complexity: access and change by key or slot are O(1), in place, and allocate nothing; so are
///   appending and removing, amortised. Iteration is O(n). Inserting and moving elsewhere than to
///   the end are O(n). A collection that is not shared is changed in place; of a shared one, a
///   change of an element copies what elements need and neither the order nor the keys.
public struct KeyedCollection<ID: Hashable, Element> {
  /// Elements by slot; nil in free slots.
  @usableFromInline var contents: ContiguousArray<Element?> = []
  /// What else is known by slot.
  @usableFromInline var tenancies: ContiguousArray<Tenancy> = []
  @usableFromInline var free: ContiguousArray<Int32> = []
  /// Slots by key. Looked up, never iterated: its order differs from run to run.
  @usableFromInline var slots: [ID: Int32] = [:]
  @usableFromInline var order = KeyedCollectionOrder()
  @usableFromInline var notes = KeyedCollectionNotes<ID>()
  /// Marks the collection while it is accessed in place, so that its replacement is noticed.
  @usableFromInline var stamp: UInt64 = 0
  /// How many elements were removed since a reducer that runs effects for elements last looked.
  @usableFromInline var removals: UInt64 = 0
  /// Left by that reducer at each look, to notice that the whole collection was replaced.
  @usableFromInline var mark: UInt64 = 0
  /// The same for a collection and its copies, between which slots can be compared; 0 until it is
  /// needed.
  @usableFromInline var lineage: UInt64 = 0
  /// The slot to try before a look-up by key, which a handle of an element leaves here.
  @usableFromInline var hint = 0

  @usableFromInline struct Tenancy {
    /// The key; in a free slot that of the last element.
    @usableFromInline var id: ID
    /// How many elements lived here before.
    @usableFromInline var generation: UInt32 = 0
    /// The place in the order.
    @usableFromInline var place: Int32 = 0

    @inlinable init(_ id: ID) { self.id = id }
  }

  /// Makes an empty collection. Like every new collection it says that everything changed: an
  /// observer of the variable that it is assigned to cannot know what was there before.
  @inlinable public init() {}

  /// The number of elements.
  @inlinable public var count: Int { slots.count }

  /// Whether there is an element with the key.
  @inlinable public func contains(id: ID) -> Bool { slots[id] != nil }

  /// The slot of the element with the key; nil if there is none.
  @inlinable public func slot(of id: ID) -> KeyedSlot? {
    index(of: id).map { slot(at: $0) }
  }

  /// The slot's index of the element with the key.
  @inlinable func index(of id: ID) -> Int? {
    if hint < contents.count, tenancies[hint].id == id, contents[hint] != nil { return hint }
    return slots[id].map(Int.init)
  }

  /// The key of the element in a slot; nil if that element is gone.
  @inlinable public func id(of slot: KeyedSlot) -> ID? {
    contains(slot: slot) ? tenancies[slot.index].id : nil
  }

  /// Whether the element that the slot was obtained for is still there.
  @inlinable public func contains(slot: KeyedSlot) -> Bool {
    slot.index < tenancies.count && tenancies[slot.index].generation == slot.generation
      && contents[slot.index] != nil
  }

  /// All slots have an index below this. It never shrinks: it is the largest number of elements
  /// that were there at once.
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
