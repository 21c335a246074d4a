extension Reducer where State: ObservableState, Action: CasePathable {
  /// Adds a child that exists only while an optional field is not `nil`.
  ///
  /// The child runs before its parent, so that an action by which the parent removes the child still
  /// reaches it. When the field becomes `nil` the child's effects are cancelled. An action for a
  /// child that is not there is dropped and counted (``Store/actionsWithoutChild``).
  @inlinable
  public func ifLet<Child: Reducer>(
    _ state: FieldKey<State, Child.State?>, action: CaseKey<Action, Child.Action>,
    child: () -> Child
  ) -> ReducerSteps<State, Action> {
    let field = State._$fields[keyPath: state]
    let path = Action._$cases[keyPath: action]
    let built = child().build()
    let base = build()
    let scope = ScopeKey(tag: path.tag)
    return ReducerSteps([
      ReducerStep(tag: nil, children: base.children + [(path.tag, built)]) { parent, action in
        let wasPresent = field.isPresent(parent)
        var effect = Effect<Action>.none
        if action._$tag == path.tag, let childAction = path.extract(action) {
          effect = wasPresent ? .none : .absentChild
          field.modify(&parent) { optional in
            guard optional != nil else { return }
            effect = built.reduce(into: &optional!, action: childAction)
              .map(path.embed).scoped(scope)
          }
        }
        effect.append(base.reduce(into: &parent, action: action))
        if wasPresent, !field.isPresent(parent) { effect.append(.endScope(scope)) }
        return effect
      }
    ])
  }

  /// Adds the child of one case of an enum field.
  ///
  /// When the field leaves the case the child's effects are cancelled.
  @inlinable
  public func ifCaseLet<Phase: CasePathable & CaseMutable, Child: Reducer>(
    _ state: FieldKey<State, Phase>, case phase: CaseKey<Phase, Child.State>,
    action: CaseKey<Action, Child.Action>, child: () -> Child
  ) -> ReducerSteps<State, Action> {
    let field = State._$fields[keyPath: state]
    let statePath = Phase._$cases[keyPath: phase]
    let path = Action._$cases[keyPath: action]
    let built = child().build()
    let base = build()
    let scope = ScopeKey(tag: path.tag)
    return ReducerSteps([
      ReducerStep(tag: nil, children: base.children + [(path.tag, built)]) { parent, action in
        let wasPresent = field.get(parent)._$tag == statePath.tag
        var effect = Effect<Action>.none
        if action._$tag == path.tag, let childAction = path.extract(action) {
          effect = wasPresent ? .none : .absentChild
          field.modify(&parent) { value in
            Phase._$modify(&value, statePath) { child in
              effect = built.reduce(into: &child, action: childAction)
                .map(path.embed).scoped(scope)
            }
          }
        }
        effect.append(base.reduce(into: &parent, action: action))
        if wasPresent, field.get(parent)._$tag != statePath.tag { effect.append(.endScope(scope)) }
        return effect
      }
    ])
  }
}

/// An enum whose payload can be mutated in place.
public protocol CaseMutable: CasePathable {
  /// Mutates the payload of the case of `path`, if the value is of that case.
  static func _$modify<Value>(
    _ root: inout Self, _ path: CasePath<Self, Value>, _ body: (inout Value) -> Void)
}

extension CaseMutable {
  /// Takes the payload out, mutates it and puts it back.
  ///
  /// - Complexity: one copy of a payload that holds a collection which is also referenced by the
  ///   enum while it is taken out.
  @inlinable
  public static func _$modify<Value>(
    _ root: inout Self, _ path: CasePath<Self, Value>, _ body: (inout Value) -> Void
  ) {
    guard var value = path.extract(root) else { return }
    body(&value)
    root = path.embed(value)
  }
}
