/// A set of fields of one state, identified by the indices that the macro assigned.
/// `@ObservableState` rejects a type with more than ``capacity`` fields.
public struct FieldSet: OptionSet, Sendable, Hashable {
  /// The maximum number of fields of one type.
  public static let capacity = 128

  public let rawValue: UInt128

  @inlinable public init(rawValue: UInt128) { self.rawValue = rawValue }

  /// Makes a set that contains only the field `index`.
  @inlinable
  public init(field index: Int) { self.init(rawValue: 1 &<< UInt128(truncatingIfNeeded: index)) }

  /// The set of all fields of any type.
  @inlinable public static var all: FieldSet { FieldSet(rawValue: .max) }

  /// Returns whether the set contains the field `index`.
  @inlinable public func contains(field index: Int) -> Bool {
    !isDisjoint(with: FieldSet(field: index))
  }

  /// Removes and returns the smallest field index, or returns `nil` if the set is empty. O(1).
  @inlinable
  public mutating func popFirst() -> Int? {
    guard rawValue != 0 else { return nil }
    let index = rawValue.trailingZeroBitCount
    self = FieldSet(rawValue: rawValue & (rawValue &- 1))
    return index
  }
}
