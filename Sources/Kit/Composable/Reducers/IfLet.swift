/// A reducer with a child that exists only while an optional field is not `nil`. Made by
/// ``ReducerStep/ifLet(_:action:child:)``.
public struct IfLet<
  State: ObservableState, Action: CasePathable & Sendable,
  Base: ReducerStep<State, Action>, Lens: FieldLens, Case: CaseLens, Child: Reducer
>: ReducerStep
where
  Lens.Root == State, Case.Root == Action, Lens.Value == Child.State?,
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
      if Lens.isPresent(state) {
        let own = Lens.modify(&state) { child.reduce(into: &$0!, action: childAction) }
        if !own.isNone { effect = scoped(own, state) }
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
    let identity = Lens.read(state) { $0.map(tracker.identity) ?? .any }
    return effect.map(Case.embed).scoped(ScopeKey(tag: Case.tag), identity, tracker.effects)
  }

  @inlinable
  func ending(_ state: State) -> Effect<Action> {
    Lens.read(state) { tracker.ending(ScopeKey(tag: Case.tag), unless: $0) }
  }

  @inlinable
  public func hasChild(_ scope: EffectScope, in state: State) -> Bool {
    guard let next = scope.next, tracker.owns(next) else { return base.hasChild(scope, in: state) }
    return Lens.read(state) {
      $0.map { tracker.isSame(next, $0) && child.hasChild(next, in: $0) } ?? false
    }
  }

  @inlinable
  public var childCounters: [ChildCounter] {
    base.childCounters + [ChildCounter(tag: Case.tag, child)]
  }
}

extension ReducerStep {
  /// Adds a child that exists only while an optional field is not `nil`.
  ///
  ///     var player: Player.State?
  ///     …
  ///     case player(Player.Action)
  ///     …
  ///     Reduce { … }.ifLet(\.player, action: \.player) { Player() }
  ///
  /// The child runs before its parent, so that an action by which the parent removes the child still
  /// reaches it. The child's effects are cancelled when the field becomes `nil`, and when it gets
  /// another child: a state with another `id`, or another case of an enum. An action for a child that
  /// is not there is dropped and counted (``Store/actionsWithoutChild``).
  @inlinable
  public func ifLet<Lens: FieldLens, Case: CaseLens, Child: Reducer>(
    _ state: KeyPath<State.Lenses, Lens>, action: KeyPath<Action.CaseLenses, Case>,
    child: () -> Child
  ) -> IfLet<State, Action, Self, Lens, Case, Child>
  where State: ObservableState, Action: CasePathable {
    IfLet(self, child())
  }
}

extension FieldLens {
  /// Whether an optional field holds something. Looks, and copies nothing.
  @inlinable
  static func isPresent<Wrapped>(_ root: Root) -> Bool where Value == Wrapped? {
    read(root) { value in
      switch value {
      case .none: false
      case .some: true
      }
    }
  }
}
