/// A value and the key that it belongs to.
public struct Keyed<Key, Value> {
  /// What the value belongs to.
  public var key: Key
  /// The value.
  public var value: Value

  /// Joins a key and a value.
  @inlinable public init(key: Key, value: Value) {
    self.key = key
    self.value = value
  }
}

extension Keyed: Sendable where Key: Sendable, Value: Sendable {}
extension Keyed: Equatable where Key: Equatable, Value: Equatable {}
extension Keyed: Hashable where Key: Hashable, Value: Hashable {}
