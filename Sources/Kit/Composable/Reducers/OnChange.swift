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
    // The note of an earlier action of the batch is put aside, so that only this one's counts.
    let wasChanged = Lens.takeNote(&state)
    let effect = base.reduce(into: &state, action: action)
    let isChanged = Lens.takeNote(&state)
    if wasChanged || isChanged { Lens.restoreNote(&state) }
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
  /// Driven by the field's dirty bit: nothing is copied and, while the field does not change,
  /// nothing is compared. Assigning an equal value is not a change.
  /// - Parameter field: a field of this state itself. What happens inside a child is the child's
  ///   concern.
  @inlinable
  public func onChange<Lens: FieldLens>(
    of field: KeyPath<State.Lenses, Lens>,
    _ reaction: @escaping (inout State, Action) -> Effect<Action>
  ) -> OnChange<State, Action, Self, Lens> where State: ObservableState, Lens.Root == State {
    OnChange(self, reaction)
  }

  /// Calls `reaction` after an action that left the field with another value, with both values.
  ///
  ///     Reduce { … }.onChange(of: \.count) { old, new, state, action in … }
  ///
  /// For values whose copy costs nothing: numbers, flags, enums of these. The values are compared,
  /// so that a change there and back within one action does not count.
  @inlinable
  public func onChange<Lens: FieldLens>(
    of field: KeyPath<State.Lenses, Lens>,
    _ reaction:
      @escaping (_ old: Lens.Value, _ new: Lens.Value, inout State, Action) -> Effect<Action>
  ) -> OnValueChange<State, Action, Self, Lens>
  where State: ObservableState, Lens.Root == State, Lens.Value: Equatable & BitwiseCopyable {
    OnValueChange(self, reaction)
  }

  @available(*, unavailable, message: "a child reacts to its own changes: put onChange(of:) there")
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
  /// What to do with the old value, the new value, the state and the action that changed it.
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
