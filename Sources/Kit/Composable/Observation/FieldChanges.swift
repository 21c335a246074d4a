/// Which fields of a state changed since they were last reported: the dirty bits.
///
/// `@ObservableState` adds one of these to a struct as `_$changes`. All values of it are equal, hash
/// to nothing and encode to nothing, so that synthesised conformances of the state do not see it.
public struct FieldChanges: Sendable {
  /// Fields that were assigned, or mutated in place to another value.
  public var written: FieldSet
  /// Child states that were accessed in place: what changed inside, they know themselves.
  public var entered: FieldSet
  /// Marks the value that is being accessed in place, so that its replacement by another is noticed.
  @usableFromInline var stamp: UInt64

  @inlinable
  public init() {
    written = []
    entered = []
    stamp = 0
  }

  /// Whether nothing was touched.
  @inlinable public var isEmpty: Bool { written.isEmpty && entered.isEmpty }

  /// Forgets everything.
  @inlinable
  public mutating func clear() {
    written = []
    entered = []
  }

  // MARK: Accesses to the whole state

  @inlinable
  public mutating func begin(stamp: UInt64) -> UInt64 {
    self.stamp = stamp
    return stamp
  }

  @inlinable
  public mutating func end(token: UInt64) -> Bool {
    defer { stamp = 0 }
    return stamp == token
  }

  /// Takes the changes for reporting; `nil` if there are none.
  @inlinable
  public mutating func beginDrain(replaced: Bool) -> Drain? {
    if isEmpty && !replaced { return nil }
    defer { clear() }
    return Drain(
      changed: replaced ? .all : written, visited: replaced ? .all : written.union(entered))
  }

  /// Changes on their way to observers.
  @frozen
  public struct Drain {
    @usableFromInline var changed: FieldSet
    @usableFromInline let visited: FieldSet

    @inlinable init(changed: FieldSet, visited: FieldSet) {
      self.changed = changed
      self.visited = visited
    }

    /// Whether something may have changed inside a child.
    @inlinable public func visits(_ index: Int) -> Bool { visited.contains(field: index) }

    @inlinable public func isReplaced(_ index: Int) -> Bool { changed.contains(field: index) }

    /// Notes that a child did change inside.
    @inlinable
    public mutating func note(_ index: Int, _ childChanged: Bool) {
      if childChanged { changed.insert(FieldSet(field: index)) }
    }

    /// Tells the observers, save of ignored fields. Returns whether there was anything to tell.
    @inlinable
    public func finish(_ node: PlaceNode?, ignored: FieldSet) -> Bool {
      guard let node else { return !changed.subtracting(ignored).isEmpty }
      let reported = changed.subtracting(node.ignored)
      node.report(reported)
      return !reported.isEmpty
    }
  }

  // MARK: What the accessors of fields call. The overloads are picked by the field's static type.

  /// Before `set`: notes a change of a field whose values cannot be compared.
  @inlinable
  public mutating func set<Value>(_ index: Int, from old: borrowing Value, to new: borrowing Value)
  {
    written.insert(FieldSet(field: index))
  }

  /// Before `set`: notes a change only if the values differ.
  @inlinable
  public mutating func set<Value: Equatable>(_ index: Int, from old: Value, to new: Value) {
    if old != new { written.insert(FieldSet(field: index)) }
  }

  /// Before `set`: a child that is replaced as a whole counts as changed throughout.
  @inlinable
  public mutating func set<Value: ObservableBranch>(_ index: Int, from old: Value, to new: Value) {
    written.insert(FieldSet(field: index))
  }

  @inlinable
  public mutating func set<Value: ObservableBranch & Equatable>(
    _ index: Int, from old: Value, to new: Value
  ) {
    written.insert(FieldSet(field: index))
  }

  /// Before an access in place to a field that cannot be compared cheaply: it counts as changed.
  @inlinable
  public mutating func enter<Value>(_ index: Int, _ value: inout Value) -> OpaqueAccess {
    OpaqueAccess()
  }

  @inlinable
  public mutating func leave<Value>(_ index: Int, _ value: inout Value, _ access: OpaqueAccess) {
    written.insert(FieldSet(field: index))
  }

  /// Before an access in place to a small field: its old value is kept, since that costs no reference.
  @inlinable
  public mutating func enter<Value: Equatable & BitwiseCopyable>(
    _ index: Int, _ value: inout Value
  ) -> ComparedAccess<Value> {
    ComparedAccess(old: value)
  }

  @inlinable
  public mutating func leave<Value: Equatable & BitwiseCopyable>(
    _ index: Int, _ value: inout Value, _ access: ComparedAccess<Value>
  ) {
    if value != access.old { written.insert(FieldSet(field: index)) }
  }

  /// Before an access in place to a child.
  @inlinable
  public mutating func enter<Value: ObservableBranch>(
    _ index: Int, _ value: inout Value
  ) -> BranchAccess {
    entered.insert(FieldSet(field: index))
    return BranchAccess(token: value._$enter(stamp: Stamp.of(field: index, in: stamp)))
  }

  @inlinable
  public mutating func leave<Value: ObservableBranch>(
    _ index: Int, _ value: inout Value, _ access: BranchAccess
  ) {
    if !value._$leave(token: access.token) { written.insert(FieldSet(field: index)) }
  }

  @inlinable
  public mutating func enter<Value: ObservableBranch & Equatable & BitwiseCopyable>(
    _ index: Int, _ value: inout Value
  ) -> BranchAccess {
    entered.insert(FieldSet(field: index))
    return BranchAccess(token: value._$enter(stamp: Stamp.of(field: index, in: stamp)))
  }

  @inlinable
  public mutating func leave<Value: ObservableBranch & Equatable & BitwiseCopyable>(
    _ index: Int, _ value: inout Value, _ access: BranchAccess
  ) {
    if !value._$leave(token: access.token) { written.insert(FieldSet(field: index)) }
  }
}

/// An access of which only the end is known.
@frozen public struct OpaqueAccess: Sendable {
  @inlinable init() {}
}

/// An access that remembers the value before it.
@frozen public struct ComparedAccess<Value: Equatable & BitwiseCopyable> {
  @usableFromInline let old: Value
  @inlinable init(old: Value) { self.old = old }
}

/// An access to a child that was stamped.
@frozen public struct BranchAccess: Sendable {
  @usableFromInline let token: UInt64
  @inlinable init(token: UInt64) { self.token = token }
}

/// Stamps: one number per place and turn of the store.
///
/// A child is stamped when it is entered and looked at when it is left. `child = State()` or the
/// restoration of an earlier copy brings a value without this stamp, which is how a replacement
/// through `inout` is told from a mutation. Mixing in the place tells swapped siblings apart, the
/// turn tells copies of earlier turns apart.
public enum Stamp {
  @inlinable
  public static func of(field index: Int, in parent: UInt64) -> UInt64 {
    (parent ^ UInt64(truncatingIfNeeded: index &+ 1)) &* 0x9E37_79B9_7F4A_7C15 | 1
  }
}

extension FieldChanges: Hashable {
  @inlinable public static func == (lhs: FieldChanges, rhs: FieldChanges) -> Bool { true }
  @inlinable public func hash(into hasher: inout Hasher) {}
}

extension FieldChanges: Codable {
  public init(from decoder: any Decoder) throws { self.init() }
  public func encode(to encoder: any Encoder) throws {}
}
