/// What changed in a ``KeyedCollection`` since it was last asked.
///
/// Compared with the collection as it was then: take away `removed`, add `inserted`; of the others
/// those in `updated` may have another value and those in `moved` another place, and the rest are
/// as they were, in the same order among each other. An element that came and went in between is
/// not mentioned. One that went and came back is in `removed` with its old slot and in `inserted`
/// with its new one.
public struct KeyedChanges<ID: Hashable> {
  /// A key and its slot.
  public struct Entry: Hashable {
    /// The key of the element.
    public let id: ID
    /// Its slot; in `removed`, the slot it had.
    public let slot: KeyedSlot

    @inlinable init(id: ID, slot: KeyedSlot) {
      self.id = id
      self.slot = slot
    }
  }

  /// The collection is new, or so much changed that a list would be longer than the collection.
  /// The lists are empty then; take everything anew.
  public let isEverything: Bool
  /// Elements that came; in the order of their first change, as in all the lists.
  public let inserted: [Entry]
  /// Elements that went.
  public let removed: [Entry]
  /// Elements that were moved by name; those that merely made room are not among them.
  public let moved: [Entry]
  /// Elements that were changed in place or replaced.
  public let updated: [Entry]

  @inlinable init(
    isEverything: Bool = false, inserted: [Entry] = [], removed: [Entry] = [],
    moved: [Entry] = [], updated: [Entry] = []
  ) {
    self.isEverything = isEverything
    self.inserted = inserted
    self.removed = removed
    self.moved = moved
    self.updated = updated
  }

  /// Whether nothing changed.
  @inlinable public var isEmpty: Bool {
    !isEverything && inserted.isEmpty && removed.isEmpty && moved.isEmpty && updated.isEmpty
  }
}

extension KeyedChanges: Sendable where ID: Sendable {}
extension KeyedChanges.Entry: Sendable where ID: Sendable {}

/// What is noted of one slot since the changes were last taken.
@usableFromInline struct KeyedCollectionMark: OptionSet, Sendable {
  @usableFromInline let rawValue: UInt8

  @inlinable init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The slot is in the list of slots with marks.
  @inlinable static var listed: Self { Self(rawValue: 1) }
  @inlinable static var inserted: Self { Self(rawValue: 2) }
  @inlinable static var moved: Self { Self(rawValue: 4) }
  @inlinable static var updated: Self { Self(rawValue: 8) }
  /// Accessed in place; what changed inside, the element knows itself.
  @inlinable static var entered: Self { Self(rawValue: 16) }
}

/// The notes from which ``KeyedChanges`` are made.
@usableFromInline struct KeyedCollectionNotes<ID: Hashable> {
  /// Fewer changes than this are always listed.
  @usableFromInline static var listedAlways: Int { 32 }

  @usableFromInline var isEverything = true
  /// By slot. Bytes of their own rather than part of the tenancy, for the cache's sake.
  @usableFromInline var marks: ContiguousArray<KeyedCollectionMark> = []
  @usableFromInline var listed: ContiguousArray<Int32> = []
  @usableFromInline var removed: [KeyedChanges<ID>.Entry] = []

  @inlinable init() {}

  @inlinable mutating func note(_ mark: KeyedCollectionMark, at slot: Int, count: Int) {
    guard !isEverything else { return }
    let old = marks[slot]
    marks[slot] = old.union(mark).union(.listed)
    guard !old.contains(.listed) else { return }
    listed.append(Int32(slot))
    limit(count)
  }

  @inlinable mutating func noteRemoval(of entry: KeyedChanges<ID>.Entry, count: Int) {
    guard !isEverything else { return }
    let slot = entry.slot.index
    let wasInserted = marks[slot].contains(.inserted)
    marks[slot] = marks[slot].intersection(.listed)
    guard !wasInserted else { return }
    removed.append(entry)
    limit(count)
  }

  /// Gives up the lists once they are longer than the collection.
  @inlinable mutating func limit(_ count: Int) {
    guard listed.count + removed.count > max(count, Self.listedAlways) else { return }
    clear()
    isEverything = true
  }

  @inlinable mutating func clear() {
    // Mostly there is one: removing all at once is made for many.
    while let slot = listed.popLast() { marks[Int(slot)] = [] }
    if !removed.isEmpty { removed.removeAll(keepingCapacity: true) }
    isEverything = false
  }
}

extension KeyedCollectionNotes: Sendable where ID: Sendable {}

extension KeyedCollection {
  /// Whether ``takeChanges()`` might tell something.
  @inlinable public var hasChanges: Bool {
    notes.isEverything || !notes.listed.isEmpty || !notes.removed.isEmpty
  }

  /// Tells what changed since the last call, and starts anew.
  ///
  /// - Complexity: O(m), where m is the number of changed elements, at most the number of elements.
  @inlinable public mutating func takeChanges() -> KeyedChanges<ID> {
    defer { notes.clear() }
    guard !notes.isEverything else { return KeyedChanges(isEverything: true) }
    var (inserted, moved, updated): Lists = ([], [], [])
    for listed in notes.listed {
      let index = Int(listed)
      let mark = notes.marks[index]
      if mark == .listed { continue }
      let entry = KeyedChanges.Entry(id: tenancies[index].id, slot: slot(at: index))
      if mark.contains(.inserted) {
        inserted.append(entry)
        continue
      }
      if mark.contains(.moved) { moved.append(entry) }
      if !mark.isDisjoint(with: [.updated, .entered]) { updated.append(entry) }
    }
    return KeyedChanges(
      inserted: inserted, removed: notes.removed, moved: moved, updated: updated)
  }

  @usableFromInline typealias Lists = (
    [KeyedChanges<ID>.Entry], [KeyedChanges<ID>.Entry], [KeyedChanges<ID>.Entry]
  )
}
