/// A reducer that performs the push and pop actions of a stack around the parent's reducer. Made by
/// ``ReducerStep/stack(_:action:child:)``.
public struct StackNavigation<
  State: ObservableState, Action: Sendable, Base: ReducerStep<State, Action>, Lens: FieldLens,
  Case: CaseLens, Screen, ScreenAction
>: ReducerStep
where
  Lens.Root == State, Case.Root == Action, Lens.Value == StackState<Screen>,
  Case.Value == NavigationAction<Screen, ScreenAction>
{
  @usableFromInline let base: Base

  @inlinable init(_ base: Base) { self.base = base }

  @inlinable
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch Case.extract(action) {
    case .push(let id, let screen): reduce(&state, action, pushing: screen, id)
    case .popFrom(let id): reduce(&state, action, poppingFrom: id)
    case .element, nil: base.reduce(into: &state, action: action)
    }
  }

  @inlinable
  func reduce(
    _ state: inout State, _ action: Action, pushing screen: Screen, _ id: StackElementID
  ) -> Effect<Action> {
    let isNew = Lens.modify(&state) { path in
      // A number must not be reused, because actions for the earlier screen would reach the new
      // screen.
      path.mayPush(id) && path.append(screen, id: id) != nil
    }
    let effect = base.reduce(into: &state, action: action)
    return isNew ? effect : Effect.absentChild.followed(by: effect)
  }

  @inlinable
  func reduce(
    _ state: inout State, _ action: Action, poppingFrom id: StackElementID
  ) -> Effect<Action> {
    let isThere = Lens.read(state) { $0.contains(id: id) }
    let effect = base.reduce(into: &state, action: action)
    guard isThere else { return Effect.absentChild.followed(by: effect) }
    Lens.modify(&state) { $0.pop(from: id) }
    return effect
  }

  @inlinable
  public func hasChild(_ scope: EffectScope, in state: State) -> Bool {
    base.hasChild(scope, in: state)
  }

  @inlinable public var childCounters: [ChildCounter] { base.childCounters }
}

extension KeyedCollection where ID == StackElementID {
  @usableFromInline func mayPush(_ id: StackElementID) -> Bool { id.number >= nextID.number }
}

/// The case, among the actions of a stack, that contains the actions of single screens.
public enum ScreenCase<Case: CaseLens, Screen, ScreenAction>: PoppingCaseLens
where Case.Value == NavigationAction<Screen, ScreenAction> {
  @inlinable public static var tag: Int { Case.tag }

  @inlinable
  public static func embed(_ value: ElementAction<StackElementID, ScreenAction>) -> Case.Root {
    Case.embed(.element(id: value.id, action: value.action))
  }

  @inlinable
  public static func extract(
    _ root: Case.Root
  ) -> ElementAction<StackElementID, ScreenAction>? {
    guard case .element(let id, let action)? = Case.extract(root) else { return nil }
    return ElementAction(id: id, action: action)
  }

  @inlinable
  public static func popFrom(_ id: StackElementID) -> Case.Root { Case.embed(.popFrom(id: id)) }
}

extension ReducerStep {
  /// Adds a child for each screen of a stack, and actions that push and pop screens.
  ///
  ///     case path(StackActionOf<Screens>)
  ///     …
  ///     Reduce { … }.stack(\.path, action: \.path) {
  ///       Screens.Features(song: SongScreen(), album: AlbumScreen())
  ///     }
  ///
  /// As with ``forEach(_:action:child:)``, the screen runs before its parent, and its effects end
  /// when it is popped. The parent sees a `push` after the screen was pushed, and a `popFrom`
  /// before the screens are popped. Pushing a number that was already used, or popping an absent
  /// screen, has no effect and is counted (``Store/actionsWithoutChild``). A screen that returns
  /// ``Effect/dismiss`` is popped by a `popFrom` action.
  // Not an overload of `forEach`, because type-checking a chain of overloaded calls takes
  // exponential time.
  @inlinable
  public func stack<Lens: FieldLens, Case: CaseLens, Child: Reducer>(
    _ state: KeyPath<State.Lenses, Lens>, action: KeyPath<Action.CaseLenses, Case>,
    child: () -> Child
  ) -> ForEach<
    State, Action, StackNavigation<State, Action, Self, Lens, Case, Child.State, Child.Action>,
    Lens, ScreenCase<Case, Child.State, Child.Action>, StackElementID, Child
  >
  where State: ObservableState, Action: CasePathable {
    ForEach(StackNavigation(self), child())
  }
}
