/// A reducer with a child for each element of a keyed collection. Made by
/// ``ReducerStep/forEach(_:action:child:)``.
public struct ForEach<
  State: ObservableState, Action: CasePathable & Sendable,
  Base: ReducerStep<State, Action>, Lens: FieldLens, Case: CaseLens, ID: Hashable & Sendable,
  Child: Reducer
>: ReducerStep
where
  Lens.Root == State, Case.Root == Action,
  Lens.Value == KeyedCollection<ID, Child.State>, Child.State: ObservableBranch,
  Case.Value == ElementAction<ID, Child.Action>
{
  @usableFromInline let base: Base
  @usableFromInline let child: Child.Prepared
  @usableFromInline let effects = ElementEffects()

  @inlinable
  init(_ base: Base, _ child: Child) {
    self.base = base
    self.child = child.prepare()
  }

  @inlinable @inline(__always)
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    guard effects.mayRun else { return reduceAll(&state, action) }
    // Marked, so that the replacement of the whole collection is noticed, too.
    effects.turn &+= 1
    let (removals, turn) = (Lens.read(state) { $0.removals }, effects.turn)
    Lens.mark(&state, turn)
    let effect = reduceAll(&state, action)
    let isSame = Lens.read(state) { $0.removals == removals && $0.mark == turn }
    return isSame ? effect : effect.followed(by: prune(state))
  }

  @inlinable @inline(__always)
  func reduceAll(_ state: inout State, _ action: Action) -> Effect<Action> {
    var effect = Effect<Action>.none
    if let element = Case.extract(action) {
      let result = Lens.modify(&state) { collection in
        collection.modify(id: element.id) { child.reduce(into: &$0, action: element.action) }
      }
      effect = result.map { embed($0, element.id) } ?? .absentChild
    }
    return effect.followed(by: base.reduce(into: &state, action: action))
  }

  @inlinable
  func embed(_ effect: Effect<Child.Action>, _ id: ID) -> Effect<Action> {
    if effect.isNone { return .none }
    effects.mayRun = true
    return effect.map { Case.embed(ElementAction(id: id, action: $0)) }
      .scoped(ScopeKey(tag: Case.tag, element: id))
  }

  /// Ends the effects of elements that are not there any more.
  @usableFromInline
  func prune(_ state: State) -> Effect<Action> {
    // A copy for the look-up only; it is gone before the next mutation.
    let collection = Lens.read(state) { $0 }
    return Effect(
      operation: .endElements(
        Case.tag, effects, isPresent: { id in (id as? ID).map(collection.contains(id:)) ?? true }))
  }

  @inlinable
  public var childCounters: [ChildCounter] {
    base.childCounters + [ChildCounter(tag: Case.tag, child)]
  }
}

/// What a collection's reducer knows of the effects of its elements.
public final class ElementEffects {
  /// Whether some may run; if not, nothing is looked at when elements go.
  @exclusivity(unchecked) @usableFromInline var mayRun = false
  @exclusivity(unchecked) @usableFromInline var turn: UInt64 = 0

  @usableFromInline init() {}
}

extension FieldLens {
  /// Leaves a mark that goes with the value; neither a change nor an access.
  @inlinable
  static func mark<ID, Element>(_ root: inout Root, _ turn: UInt64)
  where Value == KeyedCollection<ID, Element> {
    modifyUnnoted(&root) { $0.mark = turn }
  }
}

extension ReducerStep {
  /// Adds a child for each element of a collection, for the actions of one case.
  ///
  ///     case rows(ElementAction<Row.ID, Row.Action>)
  ///     …
  ///     Reduce { … }.forEach(\.rows, action: \.rows) { RowFeature() }
  ///
  /// The child runs before its parent. The effects of an element are cancelled when it is removed,
  /// in time proportional to the effects that elements run. An action for an element that is not
  /// there is dropped and counted (``Store/actionsWithoutChild``).
  /// - Complexity: one look-up by key per action, whatever the number of elements.
  @inlinable
  public func forEach<
    Lens: FieldLens, Case: CaseLens, ID: Hashable & Sendable, Child: Reducer
  >(
    _ state: KeyPath<State.Lenses, Lens>, action: KeyPath<Action.CaseLenses, Case>,
    child: () -> Child
  ) -> ForEach<State, Action, Self, Lens, Case, ID, Child>
  where State: ObservableState, Action: CasePathable {
    ForEach(self, child())
  }
}
