/// A set of fields of one state, by the index that the macro gave them.
///
/// At most ``capacity`` fields; `@ObservableState` refuses a type with more.
public struct FieldSet: OptionSet, Sendable, Hashable {
  /// The largest number of fields of one type.
  public static let capacity = 128

  public let rawValue: UInt128

  @inlinable public init(rawValue: UInt128) { self.rawValue = rawValue }

  /// The set of the one field `index`.
  @inlinable
  public init(field index: Int) { self.init(rawValue: 1 &<< UInt128(truncatingIfNeeded: index)) }

  /// Every field of any type.
  @inlinable public static var all: FieldSet { FieldSet(rawValue: .max) }

  /// Whether the field `index` is among them.
  @inlinable public func contains(field index: Int) -> Bool {
    !isDisjoint(with: FieldSet(field: index))
  }

  /// Removes the field with the smallest index and returns that; `nil` if there is none. O(1).
  @inlinable
  public mutating func popFirst() -> Int? {
    guard rawValue != 0 else { return nil }
    let index = rawValue.trailingZeroBitCount
    self = FieldSet(rawValue: rawValue & (rawValue &- 1))
    return index
  }
}
