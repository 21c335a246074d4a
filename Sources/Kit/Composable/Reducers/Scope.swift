/// Runs a child's reducer on a stored child state, for the actions of one case.
///
///     Scope(state: \.header, action: \.header) { HeaderFeature() }
///
/// Siblings are not asked: the case of the action picks the child.
@inlinable
public func Scope<Parent: ObservableState, ParentAction: CasePathable & Sendable, Child: Reducer>(
  state: FieldKey<Parent, Child.State>, action: CaseKey<ParentAction, Child.Action>,
  child: () -> Child
) -> ReducerSteps<Parent, ParentAction> {
  let field = Parent._$fields[keyPath: state]
  let path = ParentAction._$cases[keyPath: action]
  let built = child().build()
  return ReducerSteps([
    ReducerStep(tag: path.tag, children: [(path.tag, built)]) { parent, action in
      guard let childAction = path.extract(action) else { return .none }
      var effect = Effect<Child.Action>.none
      field.modify(&parent) { effect = built.reduce(into: &$0, action: childAction) }
      return effect.isNone ? .none : effect.map(path.embed)
    }
  ])
}
