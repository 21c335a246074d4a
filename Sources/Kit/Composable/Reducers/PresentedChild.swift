/// An action of a child that is presented over its parent: a confirmation, a sheet.
public enum PresentationAction<Action> {
  /// The child is to go; its parent's field becomes `nil`.
  case dismiss
  /// An action of the child while it is there.
  case presented(Action)
}

// Written out: what the macro makes could not be seen through by users in other modules.
extension PresentationAction: CasePathable {
  /// Descriptors of the cases.
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

/// A reducer with a presented child. Made by `ifLet(_:action:child:)`.
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

  @inlinable
  init(_ base: Base, _ child: Child) {
    self.base = base
    self.child = child.prepare()
  }

  @inlinable @inline(__always)
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    let wasPresent = Lens.isPresent(state)
    var effect = Effect<Action>.none
    let childAction = Case.extract(action)
    if let childAction {
      switch childAction {
      case .presented(let action) where wasPresent:
        let own = Lens.modify(&state) { child.reduce(into: &$0!, action: action) }
        if !own.isNone {
          effect = own.map({ Case.embed(.presented($0)) }, dismiss: Case.embed(.dismiss))
            .scoped(ScopeKey(tag: Case.tag))
        }
      case .presented: effect = .absentChild
      case .dismiss: break
      }
    }
    // The parent sees the child as it was when it is dismissed.
    return base.reduce(
      into: &state, action: action, after: effect, of: Case.tag, wasPresent: wasPresent
    ) { state in
      if case .dismiss? = childAction { Lens.modify(&state) { $0 = nil } }
      return Lens.isPresent(state)
    }
  }

  @inlinable
  public var childCounters: [ChildCounter] {
    base.childCounters + [ChildCounter(tag: Case.tag, child)]
  }
}

extension ReducerStep {
  /// Adds a child that is presented while an optional field is not `nil`, and can be dismissed: by
  /// `.dismiss`, or by the effect ``Effect/dismiss`` of the child itself.
  ///
  ///     case endConfirmation(PresentationAction<EndConfirmation.Action>)
  ///
  /// The parent runs after the child and still sees its state when it is dismissed; then the field
  /// becomes `nil` and the child's effects are cancelled.
  @inlinable
  public func ifLet<Lens: FieldLens, Case: CaseLens, Child: Reducer>(
    _ state: KeyPath<State.Lenses, Lens>, action: KeyPath<Action.CaseLenses, Case>,
    child: () -> Child
  ) -> PresentedChild<State, Action, Self, Lens, Case, Child>
  where State: ObservableState, Action: CasePathable {
    PresentedChild(self, child())
  }
}
