/// A node of a store's state tree, to which observers are added.
///
/// A cheap value; the tree gets a node there when the first observer comes.
public struct Place<State> {
  // Makes the node with the given ignored fields, if it is not there yet.
  let node: (FieldSet) -> PlaceNode
  let ignored: FieldSet
}

extension Place where State: ObservableState {
  /// The node itself; it is made if it does not exist.
  public func makeNode() -> PlaceNode { node(State._$ignoredFields) }

  /// The node of a child.
  public func child<Child: ObservableState>(_ field: FieldKey<State, Child>) -> Place<Child> {
    child(State._$fields[keyPath: field].index)
  }

  /// The node of an optional child; it stays the same while the child comes and goes.
  public func child<Child: ObservableState>(_ field: FieldKey<State, Child?>) -> Place<Child> {
    child(State._$fields[keyPath: field].index)
  }

  func child<Child: ObservableState>(_ index: Int) -> Place<Child> {
    Place<Child>(
      node: { ignored in makeNode().makeChild(index, ignored: ignored) },
      ignored: Child._$ignoredFields)
  }

  /// The node of a collection of children.
  public func child<ID, Element: ObservableState>(
    _ field: FieldKey<State, KeyedCollection<ID, Element>>
  ) -> Place<KeyedCollection<ID, Element>> {
    let index = State._$fields[keyPath: field].index
    return Place<KeyedCollection<ID, Element>>(
      node: { _ in makeNode().makeChild(index, ignored: []) }, ignored: [])
  }

  /// Calls `callback` after a change of the field, or of something inside it.
  public func observe<Value>(
    _ field: FieldKey<State, Value>, _ callback: @escaping () -> Void
  ) -> Observer {
    makeNode().observe(
      FieldSet(field: State._$fields[keyPath: field].index), .plain(callback))
  }

  /// Calls `callback` after a change of any field that is not ignored, with the changed ones.
  public func observeAll(_ callback: @escaping (FieldSet) -> Void) -> Observer {
    makeNode().observe(State._$declaredFields, callback)
  }
}

extension Place {
  /// The node of the element in `slot`, as long as that element lives; it stays the same when the
  /// whole collection is replaced by one that has its key.
  ///
  /// Its observers are called one last time when the element is removed.
  public func element<ID: Hashable & Sendable, Element: ObservableState>(
    _ slot: KeyedSlot, id: ID
  ) -> Place<Element> where State == KeyedCollection<ID, Element> {
    Place<Element>(
      node: { [node] ignored in node([]).makeElement(slot, id: AnyHashable(id), ignored: ignored) },
      ignored: Element._$ignoredFields)
  }

  /// Calls `callback` with what changed in the collection since it was called last: mostly one list,
  /// more if the collection changed between deliveries.
  public func observeElements<ID, Element>(
    _ callback: @escaping ([KeyedChanges<ID>]) -> Void
  ) -> Observer where State == KeyedCollection<ID, Element> {
    let node = node([])
    return node.observeElements { [unowned node] in
      callback(node.takenElementChanges.compactMap { $0 as? KeyedChanges<ID> })
    }
  }
}

extension ObservableState {
  /// The set of all fields of this type.
  public static var _$declaredFields: FieldSet {
    FieldSet(rawValue: (1 << UInt128(_$fieldNames.count)) - 1)
  }
}
