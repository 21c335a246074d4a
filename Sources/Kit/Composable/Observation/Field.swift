/// One field of a state: how to read it and how to mutate it in place.
///
/// Made by `@ObservableState`. The mutation is a function over `inout`, not a writable key path: a key
/// path through a computed property reads, changes and writes back a copy.
public struct Field<Root, Value> {
  /// Index of its bit.
  public let index: Int
  /// Its name in the source.
  public let name: String
  /// Whether its value reports changes inside itself.
  public let isBranch: Bool
  /// Reads a copy.
  public let get: (Root) -> Value
  /// Whether an optional field holds something; looks, and copies nothing.
  public let isPresent: (Root) -> Bool
  /// Mutates in place and notes what changed.
  public let modify: (inout Root, (inout Value) -> Void) -> Void

  /// Made by the macro; not written by hand.
  @inlinable
  public init(
    index: Int, name: String, isBranch: Bool, get: @escaping (Root) -> Value,
    isPresent: @escaping (Root) -> Bool,
    modify: @escaping (inout Root, (inout Value) -> Void) -> Void
  ) {
    self.index = index
    self.name = name
    self.isBranch = isBranch
    self.get = get
    self.isPresent = isPresent
    self.modify = modify
  }
}

/// Names a field, as in `\.chat`. Resolved once, when a reducer is built or an observer is added.
public typealias FieldKey<State: ObservableState, Value> = KeyPath<
  State.Fields, Field<State, Value>
>
