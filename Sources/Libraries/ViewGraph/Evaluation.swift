import Composable

/// One evaluation of one view in progress.
final class Evaluation {
  let graph: any EvaluatingGraph
  let instance: ViewInstance
  let reads = ReadRecorder()
  private(set) var presence: [Int: PresenceRead] = [:]
  /// Closures that observe changes of elements or of the case, by field.
  var structure: [Int: (@escaping () -> Void) -> Observer] = [:]
  /// The children in the body's order, and whether their state was passed down.
  private(set) var children: [(key: ChildKey, instance: ViewInstance, isPassedDown: Bool)] = []

  init(graph: any EvaluatingGraph, instance: ViewInstance) {
    self.graph = graph
    self.instance = instance
  }

  func kept<Kept: AnyObject>(_ make: () -> Kept) -> Kept {
    if let kept = instance.keptObject as? Kept { return kept }
    let kept = make()
    instance.keptObject = kept
    return kept
  }

  func child<Parent: ObservableState, Child: View>(
    _ view: Child, _ state: Observed<Parent>, _ key: FieldKey<Parent, Child.State>
  ) -> ViewNode {
    let field = Parent._$fields[keyPath: key]
    return put(view, field.index) {
      graph.point(of: instance, as: Parent.self)?.child(key)
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
      graph.point(of: instance, as: Parent.self)?.child(key)
    } read: { [read = graph.reader(of: instance, as: Parent.self)] in
      read().flatMap(field.get)
    }
  }

  func each<Parent: ObservableState, ID: Hashable & Sendable, Child: View>(
    _ view: Child, _ state: Observed<Parent>,
    _ key: FieldKey<Parent, KeyedCollection<ID, Child.State>>
  ) -> [ViewNode] {
    let field = Parent._$fields[keyPath: key]
    // A view below a case of an enum has no observation point.
    let point = graph.point(of: instance, as: Parent.self)?.child(key)
    let isPassedDown = recordRead(field.index) || point == nil
    if let point, !isPassedDown {
      structure[field.index] = { onChange in
        point.observeElements { changes in
          if changes.contains(where: \.isStructural) { onChange() }
        }
      }
    } else {
      reads.record(field.index)
    }
    let node = instance.node.makeChild(field.index, ignored: [])
    let read = graph.reader(of: instance, as: Parent.self)
    let collection = field.get(state.state)
    return collection.ids.map { id in
      guard let slot = collection.slot(of: id) else { return .empty }
      // An element that was removed and inserted again counts as another element.
      let key = ChildKey(
        field: field.index, view: ObjectIdentifier(Child.self),
        element: ElementKey(id: AnyHashable(id), slot: slot))
      return put(view, key, isPassedDown) {
        let element: ObservationPoint<Child.State>? = point?.element(slot, id: id)
        return (element?.makeNode() ?? node, element)
      } read: {
        read().flatMap { field.get($0)[id: id] }
      }
    }
  }

  /// Records a read of the whole field if it is tracked, because the child's state is then passed
  /// down by value. Returns whether the field is tracked.
  func recordRead(_ field: Int) -> Bool {
    let isPassedDown = !instance.node.ignored.contains(field: field)
    if isPassedDown { reads.record(field) }
    return isPassedDown
  }

  private func put<Child: View>(
    _ view: Child, _ field: Int, point: () -> ObservationPoint<Child.State>?,
    read: @escaping () -> Child.State?
  ) -> ViewNode {
    let isPassedDown = recordRead(field)
    var key = ChildKey(field: field, view: ObjectIdentifier(Child.self))
    while children.contains(where: { $0.key == key }) { key.occurrence += 1 }
    return put(
      view, key, isPassedDown,
      point: {
        (instance.node.makeChild(field, ignored: Child.State._$ignoredFields), point())
      }, read: read)
  }

  /// - Parameter point: The observation node and the observation point of a new view's state. The
  ///   point is nil if the view has only a node.
  func put<Child: View>(
    _ view: Child, _ key: ChildKey, _ isPassedDown: Bool,
    point: () -> (ObservationNode, ObservationPoint<Child.State>?),
    read: @escaping () -> Child.State?
  ) -> ViewNode {
    let child = instance.children[key] ?? make(view, point(), read)
    children.append((key, child, isPassedDown))
    return .child(child.id)
  }

  private func make<Child: View>(
    _ view: Child, _ point: (node: ObservationNode, point: ObservationPoint<Child.State>?),
    _ read: @escaping () -> Child.State?
  ) -> ViewInstance {
    graph.makeInstance(
      view, node: point.node, point: point.point, depth: instance.depth + 1, read: read)
  }
}

extension KeyedChanges {
  /// Whether elements were inserted, removed or moved.
  var isStructural: Bool {
    isEverything || !inserted.isEmpty || !removed.isEmpty || !moved.isEmpty
  }
}

/// The operations that an evaluation needs from its graph.
protocol EvaluatingGraph: AnyObject {
  /// - Parameter point: The observation point of the view's state; `nil` below a case of an enum.
  func makeInstance<V: View>(
    _ view: V, node: ObservationNode, point: ObservationPoint<V.State>?, depth: Int,
    read: @escaping () -> V.State?
  ) -> ViewInstance
  func point<State>(of instance: ViewInstance, as: State.Type) -> ObservationPoint<State>?
  func reader<State>(of instance: ViewInstance, as: State.Type) -> () -> State?
}
