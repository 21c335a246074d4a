/// The changes of a ``KeyedCollection`` since the last call of ``KeyedCollection/takeChanges()``.
///
/// To update an old copy, remove the elements in `removed` and add those in `inserted`. Elements in
/// `updated` may have a different value, and elements in `moved` a different position. All other
/// elements are unchanged and keep their relative order. An element that was inserted and removed
/// in between is not listed. An element that was removed and inserted again is in `removed` with
/// its old slot and in `inserted` with its new slot.
public struct KeyedChanges<ID: Hashable> {
  /// The key and the slot of an element.
  public struct Entry: Hashable {
    /// The key of the element.
    public let id: ID
    /// The slot of the element; in `removed`, its former slot.
    public let slot: KeyedSlot

    @inlinable init(id: ID, slot: KeyedSlot) {
      self.id = id
      self.slot = slot
    }
  }

  /// Whether the collection is new, or has more changes than elements. If true, all lists are
  /// empty, and the reader must read the whole collection again.
  public let isEverything: Bool
  /// The inserted elements. All lists are ordered by the first change of each element.
  public let inserted: [Entry]
  /// The removed elements.
  public let removed: [Entry]
  /// The elements that were moved explicitly, without elements that such moves only shifted.
  public let moved: [Entry]
  /// The elements that were changed in place or replaced.
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

/// The kinds of changes of one slot since the last call of ``KeyedCollection/takeChanges()``.
@usableFromInline struct KeyedCollectionMark: OptionSet, Sendable {
  @usableFromInline let rawValue: UInt8

  @inlinable init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The slot is in the list of slots with marks.
  @inlinable static var listed: Self { Self(rawValue: 1) }
  @inlinable static var inserted: Self { Self(rawValue: 2) }
  @inlinable static var moved: Self { Self(rawValue: 4) }
  @inlinable static var updated: Self { Self(rawValue: 8) }
  /// The element was accessed in place and records its own changes.
  @inlinable static var entered: Self { Self(rawValue: 16) }
}

@usableFromInline struct KeyedCollectionChangeRecord<ID: Hashable> {
  /// The number of changes that are listed even if the collection has fewer elements.
  @usableFromInline static var listedAlways: Int { 32 }

  @usableFromInline var isEverything = true
  /// The marks by slot, in an array of their own, so that they occupy fewer cache lines.
  @usableFromInline var marks: ContiguousArray<KeyedCollectionMark> = []
  @usableFromInline var listed: ContiguousArray<Int32> = []
  @usableFromInline var removed: [KeyedChanges<ID>.Entry] = []

  @inlinable init() {}

  @inlinable mutating func record(_ mark: KeyedCollectionMark, at slot: Int, count: Int) {
    guard !isEverything else { return }
    let old = marks[slot]
    marks[slot] = old.union(mark).union(.listed)
    guard !old.contains(.listed) else { return }
    listed.append(Int32(slot))
    limit(count)
  }

  @inlinable mutating func recordRemoval(of entry: KeyedChanges<ID>.Entry, count: Int) {
    guard !isEverything else { return }
    let slot = entry.slot.index
    let wasInserted = marks[slot].contains(.inserted)
    marks[slot] = marks[slot].intersection(.listed)
    guard !wasInserted else { return }
    removed.append(entry)
    limit(count)
  }

  /// Discards the lists when they have more entries than the collection has elements.
  @inlinable mutating func limit(_ count: Int) {
    guard listed.count + removed.count > max(count, Self.listedAlways) else { return }
    clear()
    isEverything = true
  }

  @inlinable mutating func clear() {
    // Removes the entries one by one: usually there is only one, and `removeAll` is optimised for
    // many.
    while let slot = listed.popLast() { marks[Int(slot)] = [] }
    if !removed.isEmpty { removed.removeAll(keepingCapacity: true) }
    isEverything = false
  }
}

extension KeyedCollectionChangeRecord: Sendable where ID: Sendable {}

extension KeyedCollection {
  /// Whether ``takeChanges()`` may return a change.
  @inlinable public var hasChanges: Bool {
    changeRecord.isEverything || !changeRecord.listed.isEmpty || !changeRecord.removed.isEmpty
  }

  /// Returns the changes since the last call and clears the record.
  ///
  /// - Complexity: O(m) for m changed elements.
  @inlinable public mutating func takeChanges() -> KeyedChanges<ID> {
    defer { changeRecord.clear() }
    guard !changeRecord.isEverything else { return KeyedChanges(isEverything: true) }
    var (inserted, moved, updated): Lists = ([], [], [])
    for listed in changeRecord.listed {
      let index = Int(listed)
      let mark = changeRecord.marks[index]
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
      inserted: inserted, removed: changeRecord.removed, moved: moved, updated: updated)
  }

  @usableFromInline typealias Lists = (
    [KeyedChanges<ID>.Entry], [KeyedChanges<ID>.Entry], [KeyedChanges<ID>.Entry]
  )
}
