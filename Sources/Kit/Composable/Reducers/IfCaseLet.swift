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

  @inlinable
  init(_ base: Base, _ child: Child) {
    self.base = base
    self.child = child.prepare()
  }

  @inlinable @inline(__always)
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    let wasPresent = Lens.read(state) { $0._$tag == Phase.tag }
    var effect = Effect<Action>.none
    if let childAction = Case.extract(action) {
      let result = Lens.modify(&state) { phase in
        Phase.modify(&phase) { child.reduce(into: &$0, action: childAction) }
      }
      effect =
        result.map { $0.embedded(Case.self, below: ScopeKey(tag: Case.tag)) } ?? .absentChild
    }
    return base.reduce(
      into: &state, action: action, after: effect, of: Case.tag, wasPresent: wasPresent
    ) { Lens.read($0) { $0._$tag == Phase.tag } }
  }

  @inlinable
  public var childCounters: [ChildCounter] {
    base.childCounters + [ChildCounter(tag: Case.tag, child)]
  }
}

extension ReducerStep {
  /// Adds the child of one case of an enum field, which is mutated in place.
  ///
  /// The child runs before its parent. When the field leaves the case the child's effects are
  /// cancelled.
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
}
