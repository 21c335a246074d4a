/// A reducer that prints its changes. Made by ``ReducerStep/_printChanges(to:)``.
public struct PrintChanges<
  State: ObservableState, Action: Sendable, Base: ReducerStep<State, Action>
>: ReducerStep {
  let base: Base
  let output: (String) -> Void

  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    var old: [String] = []
    state._$collectChanges(at: "", into: &old)
    let effect = base.reduce(into: &state, action: action)
    var new: [String] = []
    state._$collectChanges(at: "", into: &new)
    let changes = new.filter { !old.contains($0) }
    output(
      "\(ActionKind.name(of: action)): "
        + (changes.isEmpty ? "(nothing)" : changes.joined(separator: ", ")))
    return effect
  }

  public func hasChild(_ scope: EffectScope, in state: State) -> Bool {
    base.hasChild(scope, in: state)
  }

  public var childCounters: [ChildCounter] { base.childCounters }
}

extension ReducerStep where State: ObservableState {
  /// Prints a line for each action with the fields that this part of a composition changed.
  ///
  /// For debugging. After a field was listed, further changes of the field are not listed until the
  /// observers of the field have been called. ``Store/printChanges(to:)`` lists all changes of each
  /// action.
  public func _printChanges(
    to output: @escaping (String) -> Void = { print($0) }
  ) -> PrintChanges<State, Action, Self> { PrintChanges(base: self, output: output) }
}
