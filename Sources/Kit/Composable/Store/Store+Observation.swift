extension Store {
  /// Calls `callback` after a change of the field. Cost of a change elsewhere: none.
  public func observe<Value>(
    _ field: FieldKey<State, Value>, _ callback: @escaping () -> Void
  ) -> Observer {
    let index = State._$fields[keyPath: field].index
    return root.observe(FieldSet(field: index)) { _ in callback() }
  }

  /// Calls `callback` after a change of any of the state's fields, with the changed ones.
  public func observeAll(_ callback: @escaping (FieldSet) -> Void) -> Observer {
    root.observe(.all.intersection(Self.declaredFields), callback)
  }

  /// Overrides which fields of the root state are ignored, to compare both in one program.
  public func setIgnored(_ fields: FieldSet) { root.ignored = fields }

  @usableFromInline static var declaredFields: FieldSet {
    FieldSet(rawValue: (1 << UInt128(State._$fieldNames.count)) - 1)
  }

  /// The place of the whole state.
  public var place: Place<State> {
    Place(node: { [root] _ in root }, ignored: State._$ignoredFields)
  }
}

/// A place in a store's state: where observers of a child hang.
///
/// A cheap value; the tree gets a node there when the first observer comes.
public struct Place<State> {
  // Makes the node with the given ignored fields, if it is not there yet.
  let node: (FieldSet) -> PlaceNode
  let ignored: FieldSet
}

extension Place where State: ObservableState {
  /// The node of this place; made if there is none.
  public func makeNode() -> PlaceNode { node(State._$ignoredFields) }

  /// The place of a child.
  public func child<Child: ObservableState>(_ field: FieldKey<State, Child>) -> Place<Child> {
    let index = State._$fields[keyPath: field].index
    return Place<Child>(
      node: { ignored in makeNode().makeChild(index, ignored: ignored) },
      ignored: Child._$ignoredFields)
  }

  /// The place of an optional child; it stays the same while the child comes and goes.
  public func child<Child: ObservableState>(_ field: FieldKey<State, Child?>) -> Place<Child> {
    let index = State._$fields[keyPath: field].index
    return Place<Child>(
      node: { ignored in makeNode().makeChild(index, ignored: ignored) },
      ignored: Child._$ignoredFields)
  }

  /// Calls `callback` after a change of the field.
  public func observe<Value>(
    _ field: FieldKey<State, Value>, _ callback: @escaping () -> Void
  ) -> Observer {
    makeNode().observe(FieldSet(field: State._$fields[keyPath: field].index)) { _ in callback() }
  }
}
