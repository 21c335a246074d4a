extension Effect {
  @inlinable static var absentChild: Effect { Effect(operation: .absentChild) }

  @inlinable
  static func endScope(_ key: ScopeKey) -> Effect { Effect(operation: .endScope(key)) }

  /// This effect, and `other` after it. Free if one of them is none.
  @inlinable
  public func followed(by other: Effect) -> Effect {
    if other.isNone { return self }
    return isNone ? other : joined(other)
  }

  @usableFromInline
  func joined(_ other: Effect) -> Effect {
    if case .many(let effects)? = box?.operation {
      return Effect(operation: .many(effects + [other]))
    }
    return Effect(operation: .many([self, other]))
  }

  /// The same effect among those of a parent, so that it ends with the child at `key`. Free if none.
  @inlinable
  func embedded<Case: CaseLens>(_: Case.Type, below key: ScopeKey) -> Effect<Case.Root>
  where Case.Value == Action, Case.Root: Sendable {
    isNone ? .none : map(Case.embed).scoped(key)
  }

  /// Places the effects below `key`, so that they end with that child.
  @inlinable
  func scoped(_ key: ScopeKey) -> Effect {
    switch box?.operation {
    case nil, .send, .absentChild, .dismiss: self
    case .run, .limit, .cancel, .endScope, .endElements, .scoped, .many:
      Effect(operation: .scoped(key, self))
    }
  }

  /// The same effect, its actions mapped into those of a parent.
  ///
  ///     HeaderFeature().reduce(into: &state.header, action: .refresh).map(Action.header)
  @inlinable
  public func map<Parent: Sendable>(
    _ transform: @escaping (Action) -> Parent
  ) -> Effect<Parent> {
    map(transform, dismiss: nil)
  }

  /// - Parameter dismiss: the parent's action that takes the place of ``dismiss``; if there is none,
  ///   that is left to a parent further up.
  @inlinable
  func map<Parent: Sendable>(
    _ transform: @escaping (Action) -> Parent, dismiss: Parent?
  ) -> Effect<Parent> {
    switch box?.operation {
    case nil: .none
    case .send(let action): .send(transform(action))
    case .run(let run): Effect<Parent>(operation: .run(run.map(transform)))
    case .limit(let limited):
      Effect<Parent>(operation: .limit(limited.map(transform, dismiss: dismiss)))
    case .cancel(let id): Effect<Parent>(operation: .cancel(id))
    case .endScope(let key): .endScope(key)
    case .endElements(let tag, let effects, let isPresent):
      Effect<Parent>(operation: .endElements(tag, effects, isPresent: isPresent))
    case .absentChild: .absentChild
    case .dismiss: dismiss.map(Effect<Parent>.send) ?? .dismiss
    case .scoped(let key, let effect):
      Effect<Parent>(operation: .scoped(key, effect.map(transform, dismiss: dismiss)))
    case .many(let effects):
      Effect<Parent>(operation: .many(effects.map { $0.map(transform, dismiss: dismiss) }))
    }
  }
}
