extension Effect {
  @inlinable static var absentChild: Effect { Effect(operation: .absentChild) }

  /// Returns this effect followed by `other`, at no cost if either effect is empty.
  @inlinable
  public func followed(by other: Effect) -> Effect {
    if other.isNone { return self }
    return isNone ? other : joined(other)
  }

  @usableFromInline
  func joined(_ other: Effect) -> Effect {
    if case .many(let effects)? = operation {
      return Effect(operation: .many(effects + [other]))
    }
    return Effect(operation: .many([self, other]))
  }

  /// Returns this effect as an effect of the child with this key, so that it ends with that child.
  @inlinable
  func scoped(_ key: ScopeKey, _ identity: ChildIdentity, _ owner: ChildEffects) -> Effect {
    switch operation {
    case nil, .send, .absentChild, .dismiss, .strayDismissal: self
    case .run, .limit, .cancel, .endScope, .endElements, .scoped, .many, .sequence:
      Effect(operation: .scoped(key, identity, owner, self))
    }
  }

  /// Returns this effect with its actions mapped to the parent's actions.
  ///
  ///     HeaderFeature().reduce(into: &state.header, action: .typed("")).map(Action.header)
  @inlinable
  public func map<Parent: Sendable>(
    _ transform: @escaping (Action) -> Parent
  ) -> Effect<Parent> {
    map(transform, dismiss: .pass)
  }

  @inlinable
  func map<Parent: Sendable>(
    _ transform: @escaping (Action) -> Parent, dismiss: Dismissal<Parent>
  ) -> Effect<Parent> {
    switch operation {
    case nil: .none
    case .send(let action): .send(transform(action))
    case .run(let run): Effect<Parent>(run.map(transform))
    case .limit(let limited):
      Effect<Parent>(operation: .limit(limited.map(transform, dismiss: dismiss)))
    case .cancel(let id): Effect<Parent>(operation: .cancel(id))
    case .endScope(let key, let present): Effect<Parent>(operation: .endScope(key, unless: present))
    case .endElements(let tag, let isPresent):
      Effect<Parent>(operation: .endElements(tag, isPresent: isPresent))
    case .absentChild: .absentChild
    case .strayDismissal: Effect<Parent>(operation: .strayDismissal)
    case .dismiss:
      switch dismiss {
      case .pass: .dismiss
      case .send(let action): .send(action)
      case .drop: .none
      case .report: Effect<Parent>(operation: .strayDismissal)
      }
    case .scoped(let key, let identity, let owner, let effect):
      Effect<Parent>(
        operation: .scoped(key, identity, owner, effect.map(transform, dismiss: dismiss)))
    case .many(let effects): .merge(effects.map { $0.map(transform, dismiss: dismiss) })
    case .sequence(let effects): .concatenate(effects.map { $0.map(transform, dismiss: dismiss) })
    }
  }
}

/// How a parent handles a child's ``Effect/dismiss``.
@usableFromInline
enum Dismissal<Action> {
  /// Passes the dismissal to the next parent.
  case pass
  /// Sends this action, which dismisses the child, because the child is presented here.
  case send(Action)
  /// Ignores the dismissal, because the child is gone or the current action removes it.
  case drop
  /// Reports the dismissal, because the child can no longer be dismissed.
  case report
}
