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
  /// Driven by the field's dirty bit: nothing is copied and, while the field does not change, nothing
  /// is compared. An assignment of an equal value is no change.
  /// - Parameter field: a field of this state itself. What happens inside a child is the child's
  ///   concern.
  @inlinable
  public func onChange<Lens: FieldLens>(
    of field: KeyPath<State.Lenses, Lens>,
    _ reaction: @escaping (inout State, Action) -> Effect<Action>
  ) -> OnChange<State, Action, Self, Lens> where State: ObservableState, Lens.Root == State {
    OnChange(self, reaction)
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
