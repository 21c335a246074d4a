/// A reducer that reacts to changes of a field. Made by ``ReducerStep/onChange(of:_:)``.
public struct OnChange<
  State: ObservableState, Action: Sendable,
  Base: ReducerStep<State, Action>, Lens: FieldLens
>: ReducerStep
where Lens.Root == State {
  @usableFromInline let base: Base
  @usableFromInline let reaction: ReducerFunction<State, Action>

  @inlinable
  init(_ base: Base, _ reaction: @escaping ReducerFunction<State, Action>) {
    self.base = base
    self.reaction = reaction
  }

  @inlinable @inline(__always)
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    // Removes the record of changes by earlier actions, so that only changes by this action trigger
    // the reaction.
    let wasChanged = Lens.removeChangeRecord(&state)
    let effect = base.reduce(into: &state, action: action)
    let isChanged = Lens.removeChangeRecord(&state)
    if wasChanged || isChanged { Lens.restoreChangeRecord(&state) }
    guard isChanged else { return effect }
    return effect.followed(
      by: reaction(&state, action))
  }

  @inlinable
  public func hasChild(_ scope: EffectScope, in state: State) -> Bool {
    base.hasChild(scope, in: state)
  }

  @inlinable public var childCounters: [ChildCounter] { base.childCounters }
}

extension ReducerStep {
  /// Calls `reaction` after an action that changed the field.
  ///
  /// Uses the field's dirty bit: nothing is copied, and nothing is compared while the field does
  /// not change. Assigning an equal value is not a change.
  /// - Parameter field: A field of this state. Changes inside a child must be observed in the
  ///   child's reducer.
  @inlinable
  public func onChange<Lens: FieldLens>(
    of field: KeyPath<State.Lenses, Lens>,
    _ reaction: @escaping (inout State, Action) -> Effect<Action>
  ) -> OnChange<State, Action, Self, Lens> where State: ObservableState, Lens.Root == State {
    OnChange(self, reaction)
  }

  /// Calls `reaction` with the old and the new value after an action that changed the value of the
  /// field.
  ///
  ///     Reduce { … }.onChange(of: \.count) { old, new, state, action in … }
  ///
  /// Use this modifier for values that are cheap to copy, such as numbers and flags. The values
  /// before and after the action are compared, so a change that the same action reverts does not
  /// count.
  @inlinable
  public func onChange<Lens: FieldLens>(
    of field: KeyPath<State.Lenses, Lens>,
    _ reaction:
      @escaping (_ old: Lens.Value, _ new: Lens.Value, inout State, Action) -> Effect<Action>
  ) -> OnValueChange<State, Action, Self, Lens>
  where State: ObservableState, Lens.Root == State, Lens.Value: Equatable & BitwiseCopyable {
    OnValueChange(self, reaction)
  }

  @available(*, unavailable, message: "use onChange(of:) in the reducer of the child")
  public func onChange<Lens: FieldLens>(
    of field: KeyPath<State.Lenses, Lens>,
    _ reaction: @escaping (inout State, Action) -> Effect<Action>
  ) -> OnChange<State, Action, Self, Lens>
  where State: ObservableState, Lens.Root == State, Lens.Value: ObservableBranch {
    OnChange(self, reaction)
  }
}

/// A reducer that reacts to changes of a small value. Made by `onChange(of:_:)`.
public struct OnValueChange<
  State: ObservableState, Action: Sendable, Base: ReducerStep<State, Action>, Lens: FieldLens
>: ReducerStep
where Lens.Root == State, Lens.Value: Equatable & BitwiseCopyable {
  /// The reaction to a change, called with the old value, the new value, the state and the action.
  public typealias Reaction = (Lens.Value, Lens.Value, inout State, Action) -> Effect<Action>

  @usableFromInline let base: Base
  @usableFromInline let reaction: Reaction

  @inlinable
  init(_ base: Base, _ reaction: @escaping Reaction) {
    self.base = base
    self.reaction = reaction
  }

  @inlinable @inline(__always)
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    let old = Lens.read(state) { $0 }
    let effect = base.reduce(into: &state, action: action)
    let new = Lens.read(state) { $0 }
    return old == new ? effect : effect.followed(by: reaction(old, new, &state, action))
  }

  @inlinable
  public func hasChild(_ scope: EffectScope, in state: State) -> Bool {
    base.hasChild(scope, in: state)
  }

  @inlinable public var childCounters: [ChildCounter] { base.childCounters }
}
