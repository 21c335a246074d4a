/// A reducer with a child that exists only while an optional field is not `nil`. Made by
/// `ifLet(_:action:child:)`.
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

  @inlinable
  init(_ base: Base, _ child: Child) {
    self.base = base
    self.child = child.prepare()
  }

  @inlinable @inline(__always)
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    let wasPresent = Lens.isPresent(state)
    var effect = Effect<Action>.none
    if let childAction = Case.extract(action) {
      effect =
        wasPresent
        ? Lens.modify(&state) { child.reduce(into: &$0!, action: childAction) }
          .embedded(Case.self, below: ScopeKey(tag: Case.tag))
        : .absentChild
    }
    return base.reduce(
      into: &state, action: action, after: effect, of: Case.tag, wasPresent: wasPresent
    ) { Lens.isPresent($0) }
  }

  @inlinable
  public var childCounters: [ChildCounter] {
    base.childCounters + [ChildCounter(tag: Case.tag, child)]
  }
}

extension ReducerStep {
  /// Adds a child that exists only while an optional field is not `nil`.
  ///
  /// The child runs before its parent, so that an action by which the parent removes the child still
  /// reaches it. When the field becomes `nil` the child's effects are cancelled. An action for a
  /// child that is not there is dropped and counted (``Store/actionsWithoutChild``).
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
