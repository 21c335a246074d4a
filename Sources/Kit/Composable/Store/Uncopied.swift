/// A value that can only be looked at where it is, since this around it cannot be copied.
@frozen
public struct Uncopied<Value>: ~Copyable {
  /// The value.
  public let value: Value
}
