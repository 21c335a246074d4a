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

/// An identifier that was put around an effect.
@usableFromInline
struct EffectMark: Hashable, Sendable {
  @usableFromInline let id: EffectID
  /// How many scopes above that of the effect the identifier belongs to; 0 for its own.
  @usableFromInline let level: Int

  @usableFromInline
  init(_ id: EffectID, level: Int = 0) {
    self.id = id
    self.level = level
  }

  /// The same identifier as seen from a scope further down.
  var outside: EffectMark { EffectMark(id, level: level + 1) }
}
