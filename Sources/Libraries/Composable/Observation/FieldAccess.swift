// Called by the accessors of fields. The field's static type selects the overload.
extension FieldChangesOf {
  /// Called before `set`. Records a change of a field whose values cannot be compared.
  @inlinable
  public mutating func set<Value>(_ index: Int, from old: borrowing Value, to new: borrowing Value)
  {
    write(index)
  }

  /// Called before `set`. Records a change only if the values differ.
  @inlinable
  public mutating func set<Value: Equatable>(_ index: Int, from old: Value, to new: Value) {
    if old != new { write(index) }
  }

  /// Called before `set`. If a child is replaced, all of its fields count as changed.
  @inlinable
  public mutating func set<Value: ObservableBranch>(_ index: Int, from old: Value, to new: Value) {
    write(index)
  }

  /// Called before `set`. If a child is replaced, all of its fields count as changed, even if the
  /// new child is equal.
  @inlinable
  public mutating func set<Value: ObservableBranch & Equatable>(
    _ index: Int, from old: Value, to new: Value
  ) {
    write(index)
  }

  /// Called before `set` of an optional child. A child that stays `nil` does not change.
  @inlinable
  public mutating func set<Value: ObservableBranch>(
    _ index: Int, from old: Value?, to new: Value?
  ) {
    if old != nil || new != nil { write(index) }
  }

  /// Called before `set` of an optional child. A child that stays `nil` does not change.
  @inlinable
  public mutating func set<Value: ObservableBranch & Equatable>(
    _ index: Int, from old: Value?, to new: Value?
  ) {
    if old != nil || new != nil { write(index) }
  }

  /// Removes the record that the field changed, and returns whether there was one.
  @inlinable
  public mutating func take(_ index: Int) -> Bool {
    defer { written &= ~Self.bit(index) }
    return isWritten(index)
  }

  /// Called before in-place access to a field whose values are expensive to compare: without a
  /// comparison, the field counts as changed.
  @inlinable
  public mutating func enter<Value>(_ index: Int, _ value: inout Value) -> OpaqueAccess {
    OpaqueAccess()
  }

  /// Called after in-place access. The field counts as changed.
  @inlinable
  public mutating func leave<Value>(_ index: Int, _ value: inout Value, _ access: OpaqueAccess) {
    write(index)
  }

  /// Called before in-place access to a small field. Keeps the old value.
  @inlinable
  public mutating func enter<Value: Equatable & BitwiseCopyable>(
    _ index: Int, _ value: inout Value
  ) -> ComparedAccess<Value> {
    ComparedAccess(old: value)
  }

  /// Called after in-place access to a small field. Records a change only if the values differ.
  @inlinable
  public mutating func leave<Value: Equatable & BitwiseCopyable>(
    _ index: Int, _ value: inout Value, _ access: ComparedAccess<Value>
  ) {
    if value != access.old { write(index) }
  }

  /// Called before in-place access to a child.
  @inlinable
  public mutating func enter<Value: ObservableBranch>(
    _ index: Int, _ value: inout Value
  ) -> BranchAccess {
    entered |= Self.bit(index)
    return BranchAccess(token: value._$enter(stamp: Stamp.of(field: index, in: stamp)))
  }

  /// Called after in-place access to a child. Records a change if the child was replaced.
  @inlinable
  public mutating func leave<Value: ObservableBranch>(
    _ index: Int, _ value: inout Value, _ access: BranchAccess
  ) {
    if !value._$leave(token: access.token) { write(index) }
  }

  /// Called before in-place access to a small child.
  @inlinable
  public mutating func enter<Value: ObservableBranch & Equatable & BitwiseCopyable>(
    _ index: Int, _ value: inout Value
  ) -> BranchAccess {
    entered |= Self.bit(index)
    return BranchAccess(token: value._$enter(stamp: Stamp.of(field: index, in: stamp)))
  }

  /// Called after in-place access to a small child.
  @inlinable
  public mutating func leave<Value: ObservableBranch & Equatable & BitwiseCopyable>(
    _ index: Int, _ value: inout Value, _ access: BranchAccess
  ) {
    if !value._$leave(token: access.token) { write(index) }
  }
}

/// The token of an access after which the field counts as changed.
@frozen public struct OpaqueAccess: Sendable {
  @inlinable init() {}
}

/// The token of an access after which the value is compared with the old value.
@frozen public struct ComparedAccess<Value: Equatable & BitwiseCopyable> {
  @usableFromInline let old: Value
  @inlinable init(old: Value) { self.old = old }
}

/// The token of an access to a stamped child.
@frozen public struct BranchAccess: Sendable {
  @usableFromInline let token: UInt64
  @inlinable init(token: UInt64) { self.token = token }
}

/// Numbers that reveal whether a value was replaced during in-place access.
///
/// A child is stamped when access begins and checked when access ends. A mutated child keeps its
/// stamp; an assigned value, such as `State()` or an earlier copy, has no valid stamp. The stamp
/// depends on the field's index, to detect swapped siblings, and on the store's turn, to detect
/// copies from earlier turns.
public enum Stamp {
  /// Returns the stamp of a field's value, given the stamp of the enclosing state. Stamps are odd,
  /// so they are never 0.
  @inlinable
  public static func of(field index: Int, in parent: UInt64) -> UInt64 {
    (parent ^ UInt64(truncatingIfNeeded: index &+ 1)) &* 0x9E37_79B9_7F4A_7C15 | 1
  }
}
