/// A path to an observation node of a store, to which observers can be added. A cheap value: the
/// tree creates the node when the first observer is added.
public struct ObservationPoint<State> {
  // Returns the node, and creates it with the given ignored fields if it does not exist.
  let node: (FieldSet) -> ObservationNode
  let ignored: FieldSet
}

extension ObservationPoint where State: ObservableState {
  /// Returns the node, and creates it if it does not exist.
  public func makeNode() -> ObservationNode { node(State._$ignoredFields) }

  /// Returns the path to the node of a child.
  public func child<Child: ObservableState>(_ field: FieldKey<State, Child>) -> ObservationPoint<
    Child
  > {
    child(State._$fields[keyPath: field].index)
  }

  /// Returns the path to the node of an optional child, which successive children share.
  public func child<Child: ObservableState>(_ field: FieldKey<State, Child?>) -> ObservationPoint<
    Child
  > {
    child(State._$fields[keyPath: field].index)
  }

  func child<Child: ObservableState>(_ index: Int) -> ObservationPoint<Child> {
    ObservationPoint<Child>(
      node: { ignored in makeNode().makeChild(index, ignored: ignored) },
      ignored: Child._$ignoredFields)
  }

  /// Returns the path to the node of a collection of children.
  public func child<ID, Element: ObservableState>(
    _ field: FieldKey<State, KeyedCollection<ID, Element>>
  ) -> ObservationPoint<KeyedCollection<ID, Element>> {
    let index = State._$fields[keyPath: field].index
    return ObservationPoint<KeyedCollection<ID, Element>>(
      node: { _ in makeNode().makeChild(index, ignored: []) }, ignored: [])
  }

  /// Calls `callback` after a change of the field or of something inside it.
  public func observe<Value>(
    _ field: FieldKey<State, Value>, _ callback: @escaping () -> Void
  ) -> Observer {
    makeNode().observe(
      FieldSet(field: State._$fields[keyPath: field].index), .plain(callback))
  }

  /// Calls `callback` with the changed fields after a change of any field that is not ignored.
  public func observeAll(_ callback: @escaping (FieldSet) -> Void) -> Observer {
    makeNode().observe(State._$declaredFields, callback)
  }
}

extension ObservationPoint {
  /// Returns the path to the node of the element in `slot`. The node stays the same while the
  /// element exists, and when the whole collection is replaced by a collection that contains the
  /// element's key. The node's observers are called one last time when the element is removed.
  public func element<ID: Hashable & Sendable, Element: ObservableState>(
    _ slot: KeyedSlot, id: ID
  ) -> ObservationPoint<Element> where State == KeyedCollection<ID, Element> {
    ObservationPoint<Element>(
      node: { [node] ignored in node([]).makeElement(slot, id: AnyHashable(id), ignored: ignored) },
      ignored: Element._$ignoredFields)
  }

  /// Calls `callback` with the changes of the collection since the last call: usually one list, or
  /// several if the collection changed several times between deliveries.
  public func observeElements<ID, Element>(
    _ callback: @escaping ([KeyedChanges<ID>]) -> Void
  ) -> Observer where State == KeyedCollection<ID, Element> {
    let node = node([])
    return node.observeElements { [unowned node] in
      callback(node.deliveredElementChanges.compactMap { $0 as? KeyedChanges<ID> })
    }
  }
}

extension ObservableState {
  /// The set of all fields of this type.
  public static var _$declaredFields: FieldSet {
    FieldSet(rawValue: (1 << UInt128(_$fieldNames.count)) - 1)
  }
}
