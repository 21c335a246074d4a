/// The place of a child among its parent's effects: the case of its actions and, in a collection, its
/// identifier.
public struct ScopeKey: Hashable, Sendable {
  @usableFromInline let tag: Int
  @usableFromInline let element: EffectID?

  /// The place of a child that there is one of.
  @inlinable
  public init(tag: Int) {
    self.tag = tag
    self.element = nil
  }

  /// The place of one element of a collection.
  @inlinable
  public init(tag: Int, element: some Hashable & Sendable) {
    self.tag = tag
    self.element = EffectID(element)
  }
}

/// An identifier of effects, compared by type and value.
public struct EffectID: Hashable, Sendable {
  // `AnyHashable` is not `Sendable`; this one was made from a value that is.
  @usableFromInline nonisolated(unsafe) let value: AnyHashable
  @usableFromInline let type: ObjectIdentifier

  /// The identifier `id`; equal values of different types are different identifiers.
  @inlinable
  public init<ID: Hashable & Sendable>(_ id: ID) {
    value = AnyHashable(id)
    type = ObjectIdentifier(ID.self)
  }
}
