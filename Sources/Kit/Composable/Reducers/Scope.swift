/// Runs a child's reducer on a stored child state, for the actions of one case.
///
///     Scope(state: \.header, action: \.header) { HeaderFeature() }
///
/// Siblings are not asked: the case of the action picks the child.
public struct Scope<
  State: ObservableState, Action: CasePathable & Sendable, Lens: FieldLens, Case: CaseLens,
  Child: Reducer
>: ReducerStep
where
  Lens.Root == State, Case.Root == Action, Lens.Value == Child.State, Case.Value == Child.Action
{
  @usableFromInline let child: Child.Prepared

  /// - Parameters:
  ///   - state: the field of the child.
  ///   - action: the case of the child's actions.
  ///   - child: makes its reducer; called once per store.
  @inlinable
  public init(
    state: KeyPath<State.Lenses, Lens>, action: KeyPath<Action.CaseLenses, Case>,
    child: () -> Child
  ) {
    self.child = child().prepare()
  }

  @inlinable @inline(__always)
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    guard let childAction = Case.extract(action) else { return .none }
    let effect = Lens.modify(&state) { child.reduce(into: &$0, action: childAction) }
    return effect.embedded(Case.self, below: ScopeKey(tag: Case.tag))
  }

  @inlinable public var childCounters: [ChildCounter] { [ChildCounter(tag: Case.tag, child)] }
}
