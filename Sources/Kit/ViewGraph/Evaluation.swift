import Composable

/// One evaluation of one view in progress.
final class Evaluation {
  let graph: any EvaluatingGraph
  let instance: ViewInstance
  let reads = ReadRecorder()
  private(set) var presence: [Int: PresenceRead] = [:]
  /// How to observe that other elements or another case are there, by field.
  var structure: [Int: (@escaping () -> Void) -> Observer] = [:]
  /// The children in the order in which the body named them, and whether their state was handed
  /// down.
  private(set) var children: [(key: ChildKey, instance: ViewInstance, isHandedDown: Bool)] = []

  init(graph: any EvaluatingGraph, instance: ViewInstance) {
    self.graph = graph
    self.instance = instance
  }

  func kept<Kept: AnyObject>(_ make: () -> Kept) -> Kept {
    if let kept = instance.kept as? Kept { return kept }
    let kept = make()
    instance.kept = kept
    return kept
  }

  func child<Parent: ObservableState, Child: View>(
    _ view: Child, _ state: Observed<Parent>, _ key: FieldKey<Parent, Child.State>
  ) -> ViewNode {
    let field = Parent._$fields[keyPath: key]
    return put(view, field.index) {
      graph.place(of: instance, as: Parent.self)?.child(key)
    } read: { [read = graph.reader(of: instance, as: Parent.self)] in
      read().map(field.get)
    }
  }

  func child<Parent: ObservableState, Child: View>(
    _ view: Child, _ state: Observed<Parent>, _ key: FieldKey<Parent, Child.State?>
  ) -> ViewNode {
    let field = Parent._$fields[keyPath: key]
    let node = instance.node.makeChild(field.index, ignored: Child.State._$ignoredFields)
    let isPresent = field.isPresent(state.state)
    presence[field.index] = PresenceRead(node: node, isPresent: isPresent)
    guard isPresent else { return .empty }
    return put(view, field.index) {
      graph.place(of: instance, as: Parent.self)?.child(key)
    } read: { [read = graph.reader(of: instance, as: Parent.self)] in
      read().flatMap(field.get)
    }
  }

  func each<Parent: ObservableState, ID: Hashable & Sendable, Child: View>(
    _ view: Child, _ state: Observed<Parent>,
    _ key: FieldKey<Parent, KeyedCollection<ID, Child.State>>
  ) -> [ViewNode] {
    let field = Parent._$fields[keyPath: key]
    // There is no place below the case of an enum.
    let place = graph.place(of: instance, as: Parent.self)?.child(key)
    let isHandedDown = note(field.index) || place == nil
    if let place, !isHandedDown {
      structure[field.index] = { onChange in
        place.observeElements { changes in
          if changes.contains(where: \.isStructural) { onChange() }
        }
      }
    } else {
      reads.note(field.index)
    }
    let node = instance.node.makeChild(field.index, ignored: [])
    let read = graph.reader(of: instance, as: Parent.self)
    let collection = field.get(state.state)
    return collection.ids.map { id in
      guard let slot = collection.slot(of: id) else { return .empty }
      // An element that went and came back is another one.
      let key = ChildKey(
        field: field.index, view: ObjectIdentifier(Child.self),
        element: ElementKey(id: AnyHashable(id), slot: slot))
      return put(view, key, isHandedDown) {
        let element: Place<Child.State>? = place?.element(slot, id: id)
        return (element?.makeNode() ?? node, element)
      } read: {
        read().flatMap { field.get($0)[id: id] }
      }
    }
  }

  /// Over a tracked field the child's state is handed down by value: a read of the whole branch. Returns whether it is.
  func note(_ field: Int) -> Bool {
    let isHandedDown = !instance.node.ignored.contains(field: field)
    if isHandedDown { reads.note(field) }
    return isHandedDown
  }

  private func put<Child: View>(
    _ view: Child, _ field: Int, place: () -> Place<Child.State>?,
    read: @escaping () -> Child.State?
  ) -> ViewNode {
    let isHandedDown = note(field)
    var key = ChildKey(field: field, view: ObjectIdentifier(Child.self))
    while children.contains(where: { $0.key == key }) { key.occurrence += 1 }
    return put(
      view, key, isHandedDown,
      place: {
        (instance.node.makeChild(field, ignored: Child.State._$ignoredFields), place())
      }, read: read)
  }

  /// - Parameter place: where the state of a new view is; without a place, at its node alone.
  func put<Child: View>(
    _ view: Child, _ key: ChildKey, _ isHandedDown: Bool,
    place: () -> (PlaceNode, Place<Child.State>?), read: @escaping () -> Child.State?
  ) -> ViewNode {
    let child = instance.children[key] ?? make(view, place(), read)
    children.append((key, child, isHandedDown))
    return .child(child.id)
  }

  private func make<Child: View>(
    _ view: Child, _ place: (node: PlaceNode, place: Place<Child.State>?),
    _ read: @escaping () -> Child.State?
  ) -> ViewInstance {
    graph.makeInstance(
      view, node: place.node, place: place.place, depth: instance.depth + 1, read: read)
  }
}

extension KeyedChanges {
  /// Whether elements came, went or moved.
  var isStructural: Bool {
    isEverything || !inserted.isEmpty || !removed.isEmpty || !moved.isEmpty
  }
}

/// What an evaluation needs of its graph.
protocol EvaluatingGraph: AnyObject {
  /// - Parameter place: `nil` below the case of an enum.
  func makeInstance<V: View>(
    _ view: V, node: PlaceNode, place: Place<V.State>?, depth: Int, read: @escaping () -> V.State?
  ) -> ViewInstance
  func place<State>(of instance: ViewInstance, as: State.Type) -> Place<State>?
  func reader<State>(of instance: ViewInstance, as: State.Type) -> () -> State?
}
