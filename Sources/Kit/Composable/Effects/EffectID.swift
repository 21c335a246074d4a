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
