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
  @usableFromInline let effects = ChildEffects()

  @inlinable
  init(_ base: Base, _ child: Child) {
    self.base = base
    self.child = child.prepare()
  }

  @inlinable @inline(__always)
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    var effect = Effect<Action>.none
    var popped: [ID] = []
    if let element = Case.extract(action) {
      let own = Lens.modify(&state) { collection in
        collection.modify(id: element.id) { child.reduce(into: &$0, action: element.action) }
      }
      if let own {
        if !own.isNone {
          if ID.self == StackElementID.self { popped = self.popped(by: own, element.id, in: state) }
          effect = scoped(own, element.id, &state, isPopped: !popped.isEmpty)
        }
      } else {
        effect = .absentChild
      }
    }
    guard effects.count != 0 || !effect.isNone || !popped.isEmpty else {
      return base.reduce(into: &state, action: action)
    }
    return reduceBase(&state, action, after: effect, popping: popped)
  }

  /// Runs the parent and ends the effects of removed elements.
  @inlinable
  func reduceBase(
    _ state: inout State, _ action: Action, after effect: Effect<Action>, popping popped: [ID]
  ) -> Effect<Action> {
    // A changed mark reveals that the whole collection was replaced. The count reveals removals,
    // including removals by other reducers since the last check.
    let wasKnown = look(&state)
    let effect = effect.followed(by: base.reduce(into: &state, action: action))
    if !popped.isEmpty {
      Lens.modify(&state) { collection in for id in popped { collection.remove(id: id) } }
    }
    let isSame = look(&state)
    return wasKnown && isSame ? effect : effect.followed(by: ending(state))
  }

  /// Returns whether no element was removed since the last check.
  @inlinable
  func look(_ state: inout State) -> Bool {
    Lens.modifyUnrecorded(&state) { collection in
      let isSame = collection.mark == effects.turn && collection.removals == 0
      effects.turn &+= 1
      collection.mark = effects.turn
      collection.removals = 0
      if collection.lineage == 0 { collection.lineage = Lineage.next() }
      return isSame
    }
  }

  @inlinable
  func scoped(
    _ effect: Effect<Child.Action>, _ id: ID, _ state: inout State, isPopped: Bool
  ) -> Effect<Action> {
    // Slots distinguish elements within one collection and its copies.
    let identity = Lens.modifyUnrecorded(&state) { collection in
      if collection.lineage == 0 { collection.lineage = Lineage.next() }
      return collection.identity(of: id) ?? .any
    }
    let embed = { (action: Child.Action) in Case.embed(ElementAction(id: id, action: action)) }
    let dismissal: Dismissal<Action> =
      ID.self == StackElementID.self ? dismissal(of: id, isAtOnce: isPopped) : .pass
    return effect.map(embed, dismiss: dismissal)
      .scoped(ScopeKey(tag: Case.tag, element: EffectID(id)), identity, effects)
  }

  @inlinable
  func ending(_ state: State) -> Effect<Action> {
    // The copy is used only for the look-up and is released before the next mutation.
    let collection = Lens.read(state) { $0 }
    return Effect(
      operation: .endElements(
        Case.tag,
        isPresent: { scope in
          guard let id = scope.key?.element?.value as? ID,
            let identity = collection.identity(of: id)
          else { return false }
          return scope.belongs(to: identity)
        }))
  }

  @inlinable
  public func hasChild(_ scope: EffectScope, in state: State) -> Bool {
    guard let next = scope.next, next.owner === effects else {
      return base.hasChild(scope, in: state)
    }
    return hasElement(next, in: state)
  }

  @inlinable
  func hasElement(_ scope: EffectScope, in state: State) -> Bool {
    Lens.read(state) { collection in
      guard let id = scope.key?.element?.value as? ID,
        let identity = collection.identity(of: id), scope.belongs(to: identity),
        let element = collection[id: id]
      else { return false }
      return child.hasChild(scope, in: element)
    }
  }

  @inlinable
  public var childCounters: [ChildCounter] {
    base.childCounters + [ChildCounter(tag: Case.tag, child)]
  }
}

extension KeyedCollection {
  /// Returns an identity that distinguishes elements which successively have this key.
  @inlinable
  func identity(of id: ID) -> ChildIdentity? {
    slot(of: id).map { .slot($0, lineage: lineage) }
  }
}

/// The lineages of collections. Copies of a collection share its lineage.
@usableFromInline
enum Lineage {
  private static let counter = AtomicCounter(1)

  @usableFromInline static func next() -> UInt64 { counter.next() }
}

extension ReducerStep {
  /// Adds a child for each element of a collection. The children handle the actions of one case.
  ///
  ///     case rows(ElementAction<Int, Row.Action>)
  ///     …
  ///     Reduce { … }.forEach(\.rows, action: \.rows) { RowFeature() }
  ///
  /// The child runs before its parent. When an element is removed, its effects are cancelled, even
  /// if a new element with the same key is inserted. The check takes time proportional to the
  /// number of elements with effects. If the whole collection is replaced, an element whose key was
  /// already present counts as the same element. An action for an absent element is dropped and
  /// counted (``Store/actionsWithoutChild``). A screen of a ``StackState`` that returns
  /// ``Effect/dismiss`` is popped, with the screens above it, after the parent has reduced the same
  /// action.
  /// - Complexity: One look-up by key per action, independent of the number of elements.
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
