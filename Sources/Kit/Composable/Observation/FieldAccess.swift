// What the accessors of fields call. The overloads are picked by the field's static type.
extension FieldChangesOf {
  /// Before `set`: notes a change of a field whose values cannot be compared.
  @inlinable
  public mutating func set<Value>(_ index: Int, from old: borrowing Value, to new: borrowing Value)
  {
    write(index)
  }

  /// Before `set`: notes a change only if the values differ.
  @inlinable
  public mutating func set<Value: Equatable>(_ index: Int, from old: Value, to new: Value) {
    if old != new { write(index) }
  }

  /// Before `set`: a child that is replaced as a whole counts as changed throughout.
  @inlinable
  public mutating func set<Value: ObservableBranch>(_ index: Int, from old: Value, to new: Value) {
    write(index)
  }

  /// Before `set`: a child that is replaced as a whole counts as changed throughout, equal or not.
  @inlinable
  public mutating func set<Value: ObservableBranch & Equatable>(
    _ index: Int, from old: Value, to new: Value
  ) {
    write(index)
  }

  /// Before `set` of an optional child: one that was `nil` and stays so does not change.
  @inlinable
  public mutating func set<Value: ObservableBranch>(
    _ index: Int, from old: Value?, to new: Value?
  ) {
    if old != nil || new != nil { write(index) }
  }

  /// Before `set` of an optional child: one that was `nil` and stays so does not change.
  @inlinable
  public mutating func set<Value: ObservableBranch & Equatable>(
    _ index: Int, from old: Value?, to new: Value?
  ) {
    if old != nil || new != nil { write(index) }
  }

  /// Removes the note that the field changed; returns whether there was one.
  @inlinable
  public mutating func take(_ index: Int) -> Bool {
    defer { written &= ~Self.bit(index) }
    return isWritten(index)
  }

  /// Before an access in place to a field that cannot be compared cheaply: it counts as changed.
  @inlinable
  public mutating func enter<Value>(_ index: Int, _ value: inout Value) -> OpaqueAccess {
    OpaqueAccess()
  }

  /// After in-place access: the field counts as changed.
  @inlinable
  public mutating func leave<Value>(_ index: Int, _ value: inout Value, _ access: OpaqueAccess) {
    write(index)
  }

  /// Before an access in place to a small field: its old value is kept, since that costs no
  /// reference.
  @inlinable
  public mutating func enter<Value: Equatable & BitwiseCopyable>(
    _ index: Int, _ value: inout Value
  ) -> ComparedAccess<Value> {
    ComparedAccess(old: value)
  }

  /// After an access in place to a small field: notes a change only if the values differ.
  @inlinable
  public mutating func leave<Value: Equatable & BitwiseCopyable>(
    _ index: Int, _ value: inout Value, _ access: ComparedAccess<Value>
  ) {
    if value != access.old { write(index) }
  }

  /// Before an access in place to a child.
  @inlinable
  public mutating func enter<Value: ObservableBranch>(
    _ index: Int, _ value: inout Value
  ) -> BranchAccess {
    entered |= Self.bit(index)
    return BranchAccess(token: value._$enter(stamp: Stamp.of(field: index, in: stamp)))
  }

  /// After an access in place to a child: notes a change if it was replaced by another.
  @inlinable
  public mutating func leave<Value: ObservableBranch>(
    _ index: Int, _ value: inout Value, _ access: BranchAccess
  ) {
    if !value._$leave(token: access.token) { write(index) }
  }

  /// Before an access in place to a child that is small.
  @inlinable
  public mutating func enter<Value: ObservableBranch & Equatable & BitwiseCopyable>(
    _ index: Int, _ value: inout Value
  ) -> BranchAccess {
    entered |= Self.bit(index)
    return BranchAccess(token: value._$enter(stamp: Stamp.of(field: index, in: stamp)))
  }

  /// After an access in place to a child that is small.
  @inlinable
  public mutating func leave<Value: ObservableBranch & Equatable & BitwiseCopyable>(
    _ index: Int, _ value: inout Value, _ access: BranchAccess
  ) {
    if !value._$leave(token: access.token) { write(index) }
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

/// Stamps: one number per node of the state tree and turn of the store.
///
/// A child is stamped when it is entered and looked at when it is left. `child = State()` or the
/// restoration of an earlier copy brings a value without this stamp, which is how a replacement
/// through `inout` is distinguished from a mutation. Mixing in the field distinguishes swapped
/// siblings; mixing in the turn distinguishes copies of earlier turns.
public enum Stamp {
  /// The stamp of a field's value, given that of the state around it. Odd, so never 0.
  @inlinable
  public static func of(field index: Int, in parent: UInt64) -> UInt64 {
    (parent ^ UInt64(truncatingIfNeeded: index &+ 1)) &* 0x9E37_79B9_7F4A_7C15 | 1
  }
}
