/// An identifier of effects. Two identifiers are equal if their types and values are equal.
public struct EffectID: Hashable, Sendable {
  // `AnyHashable` is not `Sendable`, but the wrapped value is.
  @usableFromInline nonisolated(unsafe) let value: AnyHashable
  @usableFromInline let type: ObjectIdentifier

  /// Makes the identifier `id`. Equal values of different types are different identifiers.
  @inlinable
  public init<ID: Hashable & Sendable>(_ id: ID) {
    value = AnyHashable(id)
    type = ObjectIdentifier(ID.self)
  }
}

/// An identifier by which an effect can be cancelled.
@usableFromInline
struct EffectMark: Hashable, Sendable {
  @usableFromInline let id: EffectID
  /// The number of scopes from the effect's scope up to the identifier's scope.
  @usableFromInline let level: Int

  @usableFromInline
  init(_ id: EffectID, level: Int = 0) {
    self.id = id
    self.level = level
  }

  /// The same identifier, as seen from a scope one level below.
  var outside: EffectMark { EffectMark(id, level: level + 1) }
}
