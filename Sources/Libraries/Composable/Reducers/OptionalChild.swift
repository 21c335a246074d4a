/// A reducer with a child that may be absent. Made by ``ReducerStep/ifLet(_:action:child:)`` and
/// ``ReducerStep/ifCaseLet(_:case:action:child:)``.
public struct OptionalChild<
  State: ObservableState, Action: CasePathable & Sendable,
  Base: ReducerStep<State, Action>, Path: ChildPath, Case: CaseLens, Child: Reducer
>: ReducerStep
where
  Path.Root == State, Path.Child == Child.State, Case.Root == Action, Case.Value == Child.Action
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
      if Path.isPresent(state) {
        let own = Path.modify(&state) { child.reduce(into: &$0, action: childAction) }
        if let own, !own.isNone {
          effect = own.map(Case.embed).scoped(
            ScopeKey(tag: Case.tag), tracker.identity(in: state, Path.self), tracker.effects)
        }
      } else {
        effect = .absentChild
      }
    }
    let mayRun = tracker.effects.count != 0 || !effect.isNone
    effect = effect.followed(by: base.reduce(into: &state, action: action))
    return mayRun ? effect.followed(by: ending(state)) : effect
  }

  @inlinable
  func ending(_ state: State) -> Effect<Action> {
    Path.read(state) { tracker.ending(ScopeKey(tag: Case.tag), unless: $0) }
  }

  @inlinable
  public func hasChild(_ scope: EffectScope, in state: State) -> Bool {
    guard let next = scope.next, tracker.owns(next) else { return base.hasChild(scope, in: state) }
    return tracker.hasChild(next, child, in: state, Path.self)
  }

  @inlinable
  public var childCounters: [ChildCounter] {
    base.childCounters + [ChildCounter(tag: Case.tag, child)]
  }
}
