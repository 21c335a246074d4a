/// Which fields of a state changed since they were last reported: the dirty bits.
///
/// `@ObservableState` adds one of these to a struct as `_$changes`. All values of it are equal,
/// hash to nothing and encode to nothing, so that synthesised conformances of the state do not see
/// it.
public typealias FieldChanges = FieldChangesOf<UInt64>

/// The same for a state with more than 64 fields.
public typealias WideFieldChanges = FieldChangesOf<UInt128>

/// Dirty bits in a word of the given type.
public struct FieldChangesOf<Word: FixedWidthInteger & UnsignedInteger & Sendable>: Sendable {
  /// Fields that were assigned, or mutated in place to another value.
  public var written: Word
  /// Child states that were accessed in place; they themselves know what changed inside.
  public var entered: Word
  /// Marks the value that is being accessed in place, so that its replacement by another is
  /// noticed.
  @usableFromInline var stamp: UInt64

  /// No changes.
  @inlinable
  public init() {
    written = 0
    entered = 0
    stamp = 0
  }

  /// Whether nothing was touched.
  @inlinable public var isEmpty: Bool { written | entered == 0 }

  /// Whether the field was assigned or mutated to another value.
  @inlinable public func isWritten(_ index: Int) -> Bool { written & Self.bit(index) != 0 }

  /// Whether the child was accessed in place.
  @inlinable public func isEntered(_ index: Int) -> Bool { entered & Self.bit(index) != 0 }

  @inlinable
  static func bit(_ index: Int) -> Word { 1 &<< Word(truncatingIfNeeded: index) }

  /// Notes a change of a field.
  @inlinable
  public mutating func write(_ index: Int) { written |= Self.bit(index) }

  // MARK: Accesses to the whole state

  /// Begins an access in place to the whole state. The token goes to ``end(token:)``.
  @inlinable
  public mutating func begin(stamp: UInt64) -> UInt64 {
    self.stamp = stamp
    return stamp
  }

  /// Ends it. Returns whether it is still the same value, perhaps mutated.
  @inlinable
  public mutating func end(token: UInt64) -> Bool {
    defer { stamp = 0 }
    return stamp == token
  }

  /// Takes the changes for reporting; `nil` if there are none.
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

  /// Changes on their way to observers.
  @frozen
  public struct Drain {
    @usableFromInline var changed: Word
    @usableFromInline let visited: Word

    @inlinable init(changed: Word, visited: Word) {
      self.changed = changed
      self.visited = visited
    }

    /// Whether something may have changed inside a child.
    @inlinable public func visits(_ index: Int) -> Bool {
      visited & FieldChangesOf.bit(index) != 0
    }

    /// Whether the field was assigned, or mutated to another value.
    @inlinable public func isReplaced(_ index: Int) -> Bool {
      changed & FieldChangesOf.bit(index) != 0
    }

    /// Notes that a child did change inside.
    @inlinable
    public mutating func note(_ index: Int, _ childChanged: Bool) {
      if childChanged { changed |= FieldChangesOf.bit(index) }
    }

    /// Tells the observers, save of ignored fields. Returns whether there was anything to tell.
    @inlinable
    public func finish(_ node: PlaceNode?, ignored: FieldSet) -> Bool {
      PlaceNode.report(
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
