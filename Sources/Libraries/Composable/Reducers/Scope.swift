/// Runs a child's reducer on a stored child state, for the actions of one case.
///
///     Scope(state: \.header, action: \.header) { HeaderFeature() }
///
/// The case of the action selects the child, so the reducers of siblings are not called.
public struct Scope<
  State: ObservableState, Action: CasePathable & Sendable, Lens: FieldLens, Case: CaseLens,
  Child: Reducer
>: ReducerStep
where
  Lens.Root == State, Case.Root == Action, Lens.Value == Child.State, Case.Value == Child.Action
{
  @usableFromInline let child: Child.Prepared
  @usableFromInline let tracker: ChildTracker<Child.State>

  /// Makes a reducer of the field `state`, for actions of the case `action`. `child` makes the
  /// child's reducer and is called once per store.
  @inlinable
  public init(
    state: KeyPath<State.Lenses, Lens>, action: KeyPath<Action.CaseLenses, Case>,
    child: () -> Child
  ) {
    self.child = child().prepare()
    tracker = ChildTracker(hasCases: false)
  }

  @inlinable @inline(__always)
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    guard let childAction = Case.extract(action) else {
      // Only a state with an `id` can be replaced by another child.
      guard tracker.hasIdentity, tracker.effects.count != 0 else { return .none }
      return ending(state)
    }
    let effect = Lens.modify(&state) { child.reduce(into: &$0, action: childAction) }
    return effect.isNone ? .none : scoped(effect, state)
  }

  @inlinable
  func scoped(_ effect: Effect<Child.Action>, _ state: State) -> Effect<Action> {
    effect.map(Case.embed).scoped(
      ScopeKey(tag: Case.tag), Lens.read(state, tracker.identity), tracker.effects)
  }

  @inlinable
  func ending(_ state: State) -> Effect<Action> {
    Lens.read(state) { tracker.ending(ScopeKey(tag: Case.tag), unless: $0) }
  }

  @inlinable
  public func hasChild(_ scope: EffectScope, in state: State) -> Bool {
    guard let next = scope.next, tracker.owns(next) else { return true }
    return Lens.read(state) { tracker.isSame(next, $0) && child.hasChild(next, in: $0) }
  }

  @inlinable public var childCounters: [ChildCounter] {
    [ChildCounter(tag: Case.tag, child)]
  }
}
