/// A reducer with the child of one case of an enum field. Made by
/// ``ReducerStep/ifCaseLet(_:case:action:child:)``.
public struct IfCaseLet<
  State: ObservableState, Action: CasePathable & Sendable,
  Base: ReducerStep<State, Action>, Lens: FieldLens, Phase: MutableCaseLens, Case: CaseLens,
  Child: Reducer
>: ReducerStep
where
  Lens.Root == State, Lens.Value == Phase.Root, Phase.Root: CasePathable,
  Phase.Value == Child.State, Case.Root == Action, Case.Value == Child.Action
{
  @usableFromInline let base: Base
  @usableFromInline let child: Child.Prepared
  @usableFromInline let tracker: ChildTracker<Child.State>

  @inlinable
  init(_ base: Base, _ child: Child) {
    self.base = base
    self.child = child.prepare()
    tracker = ChildTracker(hasCases: true)
  }

  @inlinable @inline(__always)
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    var effect = Effect<Action>.none
    if let childAction = Case.extract(action) {
      // Looked at first: a phase without the child is not accessed, so that no change is noted.
      if Lens.read(state, { $0._$tag == Phase.tag }) {
        let own = Lens.modify(&state) { phase in
          Phase.modify(&phase) { child.reduce(into: &$0, action: childAction) }
        }
        if let own, !own.isNone { effect = scoped(own, state) }
      } else {
        effect = .absentChild
      }
    }
    let mayRun = tracker.effects.count != 0 || !effect.isNone
    effect = effect.followed(by: base.reduce(into: &state, action: action))
    return mayRun ? effect.followed(by: ending(state)) : effect
  }

  @inlinable
  func scoped(_ effect: Effect<Child.Action>, _ state: State) -> Effect<Action> {
    let identity = Lens.read(state) { Phase.extract($0).map(tracker.identity) ?? .any }
    return effect.map(Case.embed).scoped(ScopeKey(tag: Case.tag), identity, tracker.effects)
  }

  @inlinable
  func ending(_ state: State) -> Effect<Action> {
    Lens.read(state) { tracker.ending(ScopeKey(tag: Case.tag), unless: Phase.extract($0)) }
  }

  @inlinable
  public func hasChild(_ scope: EffectScope, in state: State) -> Bool {
    guard let next = scope.next, tracker.owns(next) else { return base.hasChild(scope, in: state) }
    return Lens.read(state) {
      Phase.extract($0).map { tracker.isSame(next, $0) && child.hasChild(next, in: $0) } ?? false
    }
  }

  @inlinable
  public var childCounters: [ChildCounter] {
    base.childCounters + [ChildCounter(tag: Case.tag, child)]
  }
}

/// A reducer with the child of one case of a state that is an enum. Made by
/// ``ReducerStep/ifCaseLet(_:action:child:)``.
public struct IfRootCaseLet<
  State: ObservableState & CasePathable, Action: CasePathable & Sendable,
  Base: ReducerStep<State, Action>, Phase: MutableCaseLens, Case: CaseLens, Child: Reducer
>: ReducerStep
where
  Phase.Root == State, Phase.Value == Child.State, Case.Root == Action,
  Case.Value == Child.Action
{
  @usableFromInline let base: Base
  @usableFromInline let child: Child.Prepared
  @usableFromInline let tracker: ChildTracker<Child.State>

  @inlinable
  init(_ base: Base, _ child: Child) {
    self.base = base
    self.child = child.prepare()
    tracker = ChildTracker(hasCases: true)
  }

  @inlinable @inline(__always)
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    var effect = Effect<Action>.none
    if let childAction = Case.extract(action) {
      if state._$tag == Phase.tag {
        let own = Phase.modify(&state) { child.reduce(into: &$0, action: childAction) }
        if let own, !own.isNone { effect = scoped(own, state) }
      } else {
        effect = .absentChild
      }
    }
    let mayRun = tracker.effects.count != 0 || !effect.isNone
    effect = effect.followed(by: base.reduce(into: &state, action: action))
    return mayRun ? effect.followed(by: ending(state)) : effect
  }

  @inlinable
  func scoped(_ effect: Effect<Child.Action>, _ state: State) -> Effect<Action> {
    let identity = Phase.extract(state).map(tracker.identity) ?? .any
    return effect.map(Case.embed).scoped(ScopeKey(tag: Case.tag), identity, tracker.effects)
  }

  @inlinable
  func ending(_ state: State) -> Effect<Action> {
    tracker.ending(ScopeKey(tag: Case.tag), unless: Phase.extract(state))
  }

  @inlinable
  public func hasChild(_ scope: EffectScope, in state: State) -> Bool {
    guard let next = scope.next, tracker.owns(next) else { return base.hasChild(scope, in: state) }
    return Phase.extract(state).map { tracker.isSame(next, $0) && child.hasChild(next, in: $0) }
      ?? false
  }

  @inlinable
  public var childCounters: [ChildCounter] {
    base.childCounters + [ChildCounter(tag: Case.tag, child)]
  }
}

extension ReducerStep {
  /// Adds the child of one case of an enum field, which is mutated in place.
  ///
  ///     @ObservableState enum Phase { case waiting; case live(Show.State) }
  ///     var phase: Phase = .waiting
  ///     …
  ///     Reduce { … }.ifCaseLet(\.phase, case: \.live, action: \.show) { Show() }
  ///
  /// The child runs before its parent. Its effects are cancelled when the field leaves the case, and
  /// when the case gets a state with another `id`.
  @inlinable
  public func ifCaseLet<
    Lens: FieldLens, Phase: MutableCaseLens, Case: CaseLens, Child: Reducer
  >(
    _ state: KeyPath<State.Lenses, Lens>, case phase: KeyPath<Lens.Value.CaseLenses, Phase>,
    action: KeyPath<Action.CaseLenses, Case>, child: () -> Child
  ) -> IfCaseLet<State, Action, Self, Lens, Phase, Case, Child>
  where State: ObservableState, Action: CasePathable, Lens.Value: CasePathable {
    IfCaseLet(self, child())
  }

  /// Adds the child of one case of a state that is an enum as a whole.
  ///
  ///     @ObservableState enum State { case signedOut(Login.State); case signedIn(Home.State) }
  ///     …
  ///     Reduce { … }
  ///       .ifCaseLet(\.signedOut, action: \.signedOut) { Login() }
  ///       .ifCaseLet(\.signedIn, action: \.signedIn) { Home() }
  @inlinable
  public func ifCaseLet<Phase: MutableCaseLens, Case: CaseLens, Child: Reducer>(
    _ state: KeyPath<State.CaseLenses, Phase>, action: KeyPath<Action.CaseLenses, Case>,
    child: () -> Child
  ) -> IfRootCaseLet<State, Action, Self, Phase, Case, Child>
  where State: ObservableState & CasePathable, Action: CasePathable {
    IfRootCaseLet(self, child())
  }
}
