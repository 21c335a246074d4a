/// An action of a child that its parent presents, such as a confirmation or a sheet.
public enum PresentationAction<Action> {
  /// Dismisses the child: the parent's field becomes `nil`.
  case dismiss
  /// An action of the presented child.
  case presented(Action)
}

// Written by hand, because other modules cannot inline what the macro generates.
extension PresentationAction: CasePathable {
  /// The paths of the cases.
  public struct Cases: Sendable {
    /// The case ``PresentationAction/dismiss``.
    public var dismiss: CasePath<PresentationAction, Void> {
      CasePath(tag: 0, name: "dismiss", embed: { .dismiss }) { action in
        if case .dismiss = action { () } else { nil }
      }
    }

    /// The case ``PresentationAction/presented(_:)``.
    public var presented: CasePath<PresentationAction, Action> {
      CasePath(tag: 1, name: "presented", embed: { .presented($0) }) { action in
        if case .presented(let action) = action { action } else { nil }
      }
    }
  }

  public struct CaseLenses: Sendable {}
  public static var _$cases: Cases { Cases() }
  public static var _$caseNames: [String] { ["dismiss", "presented"] }

  @inlinable
  public var _$tag: Int {
    switch self {
    case .dismiss: 0
    case .presented: 1
    }
  }
}

extension PresentationAction: Sendable where Action: Sendable {}
extension PresentationAction: Equatable where Action: Equatable {}

/// A reducer with a presented child. Made by ``ReducerStep/presents(_:action:child:)``.
public struct PresentedChild<
  State: ObservableState, Action: CasePathable & Sendable,
  Base: ReducerStep<State, Action>, Lens: FieldLens, Case: CaseLens, Child: Reducer
>: ReducerStep
where
  Lens.Root == State, Case.Root == Action, Lens.Value == Child.State?,
  Case.Value == PresentationAction<Child.Action>
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
    if let childAction = Case.extract(action) { return reduce(&state, action, childAction) }
    let mayRun = tracker.effects.count != 0
    let effect = base.reduce(into: &state, action: action)
    return mayRun ? effect.followed(by: ending(state)) : effect
  }

  @inlinable
  func reduce(
    _ state: inout State, _ action: Action, _ childAction: PresentationAction<Child.Action>
  ) -> Effect<Action> {
    guard Lens.isPresent(state) else {
      return Effect.absentChild.followed(by: base.reduce(into: &state, action: action))
        .followed(by: ending(state))
    }
    var own = Effect<Child.Action>.none
    var identity = ChildIdentity.any
    if case .presented(let action) = childAction {
      own = Lens.modify(&state) { child.reduce(into: &$0!, action: action) }
      if !own.isNone {
        identity = tracker.identity(in: state, OptionalField<Lens, Child.State>.self)
      }
    }
    // On a dismissal, the parent still sees the child and may assign another. The field's change
    // record reveals that assignment; afterwards the record is restored for the observers.
    let wasRecorded = Lens.removeChangeRecord(&state)
    let effect = base.reduce(into: &state, action: action)
    let isReplaced = Lens.removeChangeRecord(&state)
    if wasRecorded || isReplaced { Lens.restoreChangeRecord(&state) }
    if case .dismiss = childAction {
      if !isReplaced { Lens.modify(&state) { $0 = nil } }
      return effect.followed(by: Effect(operation: .endScope(ScopeKey(tag: Case.tag), unless: nil)))
    }
    let embedded = own.map(
      { Case.embed(.presented($0)) }, dismiss: isReplaced ? .drop : .send(Case.embed(.dismiss))
    ).scoped(ScopeKey(tag: Case.tag), identity, tracker.effects)
    return embedded.followed(by: effect).followed(by: ending(state))
  }

  @inlinable
  func ending(_ state: State) -> Effect<Action> {
    Lens.read(state) { tracker.ending(ScopeKey(tag: Case.tag), unless: $0) }
  }

  @inlinable
  public func hasChild(_ scope: EffectScope, in state: State) -> Bool {
    guard let next = scope.next, tracker.owns(next) else { return base.hasChild(scope, in: state) }
    return tracker.hasChild(next, child, in: state, OptionalField<Lens, Child.State>.self)
  }

  @inlinable
  public var childCounters: [ChildCounter] {
    base.childCounters + [ChildCounter(tag: Case.tag, child)]
  }
}

extension ReducerStep {
  /// Adds a child that is presented while an optional field is not `nil`. The child can be
  /// dismissed by the action `.dismiss`, or by the child's own effect ``Effect/dismiss``.
  ///
  ///     var confirmation: Confirmation.State?
  ///     …
  ///     case confirmation(PresentationAction<Confirmation.Action>)
  ///     …
  ///     Reduce { … }.presents(\.confirmation, action: \.confirmation) { Confirmation() }
  ///
  /// The parent runs after the child. On a dismissal it still sees the child's state; then the
  /// field becomes `nil` and the child's effects are cancelled. A new child that the parent assigns
  /// during the dismissal stays.
  // Not an overload of `ifLet`, because type-checking a chain of overloaded calls takes exponential
  // time.
  @inlinable
  public func presents<Lens: FieldLens, Case: CaseLens, Child: Reducer>(
    _ state: KeyPath<State.Lenses, Lens>, action: KeyPath<Action.CaseLenses, Case>,
    child: () -> Child
  ) -> PresentedChild<State, Action, Self, Lens, Case, Child>
  where State: ObservableState, Action: CasePathable {
    PresentedChild(self, child())
  }
}
