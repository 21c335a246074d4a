/// The dirty bits of a state: which fields changed since changes were last reported.
///
/// `@ObservableState` adds a property `_$changes` of this type to a struct. All values of this type
/// compare equal, add nothing to a hash and encode nothing, so synthesised conformances of the
/// state are unaffected.
public typealias FieldChanges = FieldChangesOf<UInt64>

/// The dirty bits of a state with more than 64 fields.
public typealias WideFieldChanges = FieldChangesOf<UInt128>

/// Dirty bits in a word of the given type.
public struct FieldChangesOf<Word: FixedWidthInteger & UnsignedInteger & Sendable>: Sendable {
  /// The fields that were assigned, or mutated in place to another value.
  public var written: Word
  /// The child states that were accessed in place; each records its own changes.
  public var entered: Word
  /// A mark that is set by in-place access and lost when the value is replaced.
  @usableFromInline var stamp: UInt64

  /// Makes an empty set of changes.
  @inlinable
  public init() {
    written = 0
    entered = 0
    stamp = 0
  }

  /// Whether no field was assigned or accessed in place.
  @inlinable public var isEmpty: Bool { written | entered == 0 }

  /// Returns whether the field was assigned, or mutated to another value.
  @inlinable public func isWritten(_ index: Int) -> Bool { written & Self.bit(index) != 0 }

  /// Returns whether the child was accessed in place.
  @inlinable public func isEntered(_ index: Int) -> Bool { entered & Self.bit(index) != 0 }

  @inlinable
  static func bit(_ index: Int) -> Word { 1 &<< Word(truncatingIfNeeded: index) }

  /// Records a change of a field.
  @inlinable
  public mutating func write(_ index: Int) { written |= Self.bit(index) }

  // MARK: Accesses to the whole state

  /// Begins in-place access to the whole state. Pass the returned token to ``end(token:)``.
  @inlinable
  public mutating func begin(stamp: UInt64) -> UInt64 {
    self.stamp = stamp
    return stamp
  }

  /// Ends in-place access. Returns whether the value was only mutated and not replaced.
  @inlinable
  public mutating func end(token: UInt64) -> Bool {
    defer { stamp = 0 }
    return stamp == token
  }

  /// Returns the changes to be reported and clears them, or returns `nil` if there are none.
  @inlinable
  public mutating func beginDrain(replaced: Bool) -> Drain? {
    if isEmpty && !replaced { return nil }
    defer {
      written = 0
      entered = 0
    }
    return Drain(
      changed: replaced ? .max : written, visited: replaced ? .max : written | entered)
  }

  /// Changes that are being reported to observers.
  @frozen
  public struct Drain {
    @usableFromInline var changed: Word
    @usableFromInline let visited: Word

    @inlinable init(changed: Word, visited: Word) {
      self.changed = changed
      self.visited = visited
    }

    /// Returns whether something may have changed inside a child.
    @inlinable public func visits(_ index: Int) -> Bool {
      visited & FieldChangesOf.bit(index) != 0
    }

    /// Returns whether the field was assigned, or mutated to another value.
    @inlinable public func isReplaced(_ index: Int) -> Bool {
      changed & FieldChangesOf.bit(index) != 0
    }

    /// Records whether something changed inside a child.
    @inlinable
    public mutating func record(_ index: Int, _ childChanged: Bool) {
      if childChanged { changed |= FieldChangesOf.bit(index) }
    }

    /// Queues the observers of fields that are not ignored. Returns whether any such field changed.
    @inlinable
    public func finish(_ node: ObservationNode?, ignored: FieldSet) -> Bool {
      ObservationNode.report(
        FieldSet(rawValue: UInt128(truncatingIfNeeded: changed)), to: node, ignored: ignored)
    }
  }
}

extension FieldChangesOf: Hashable {
  @inlinable public static func == (lhs: Self, rhs: Self) -> Bool { true }
  @inlinable public func hash(into hasher: inout Hasher) {}
}

extension FieldChangesOf: Codable {
  public init(from decoder: any Decoder) throws { self.init() }
  public func encode(to encoder: any Encoder) throws {}
}
