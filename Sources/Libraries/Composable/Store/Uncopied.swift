/// A wrapper that makes a value readable in place but not copyable.
@frozen
public struct Uncopied<Value>: ~Copyable {
  /// The value.
  public let value: Value
}
