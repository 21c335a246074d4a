/// The place of a child among its parent's effects: the case of its actions and, in a collection, its
/// identifier.
public struct ScopeKey: Hashable, Sendable {
  @usableFromInline let tag: Int
  @usableFromInline let element: EffectID?

  @inlinable
  public init(tag: Int) {
    self.tag = tag
    self.element = nil
  }

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

  @inlinable
  public init<ID: Hashable & Sendable>(_ id: ID) {
    value = AnyHashable(id)
    type = ObjectIdentifier(ID.self)
  }
}
