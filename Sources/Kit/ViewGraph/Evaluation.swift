import Composable

/// One evaluation of one view in progress.
final class Evaluation {
  private let graph: any EvaluatingGraph
  private let instance: ViewInstance
  let reads = ReadRecorder()
  private(set) var presence: [Int: PresenceRead] = [:]
  /// The children in the order in which the body named them, and whether their state was handed
  /// down.
  private(set) var children: [(key: ChildKey, instance: ViewInstance, isHandedDown: Bool)] = []

  init(graph: any EvaluatingGraph, instance: ViewInstance) {
    self.graph = graph
    self.instance = instance
  }

  func child<Parent: ObservableState, Child: View>(
    _ view: Child, _ state: Observed<Parent>, _ field: Field<Parent, Child.State>
  ) -> ViewNode {
    put(view, field.index) { [read = graph.reader(of: instance, as: Parent.self)] in
      read().map(field.get)
    }
  }

  func child<Parent: ObservableState, Child: View>(
    _ view: Child, _ state: Observed<Parent>, _ field: Field<Parent, Child.State?>
  ) -> ViewNode {
    let node = instance.node.makeChild(field.index, ignored: Child.State._$ignoredFields)
    let isPresent = field.isPresent(state.state)
    presence[field.index] = PresenceRead(node: node, isPresent: isPresent)
    guard isPresent else { return .empty }
    return put(view, field.index) { [read = graph.reader(of: instance, as: Parent.self)] in
      read().flatMap(field.get)
    }
  }

  private func put<Child: View>(
    _ view: Child, _ field: Int, read: @escaping () -> Child.State?
  ) -> ViewNode {
    // Over a tracked field the child's state is handed down by value: a read of the whole branch.
    let isHandedDown = !instance.node.ignored.contains(field: field)
    if isHandedDown { reads.note(field) }
    var key = ChildKey(field: field, view: ObjectIdentifier(Child.self), occurrence: 0)
    while children.contains(where: { $0.key == key }) {
      key = ChildKey(field: field, view: key.view, occurrence: key.occurrence + 1)
    }
    let child =
      instance.children[key]
      ?? graph.makeInstance(
        view,
        node: instance.node.makeChild(field, ignored: Child.State._$ignoredFields),
        depth: instance.depth + 1, read: read)
    children.append((key, child, isHandedDown))
    return .child(child.id)
  }
}

/// What an evaluation needs of its graph.
protocol EvaluatingGraph: AnyObject {
  func makeInstance<V: View>(
    _ view: V, node: PlaceNode, depth: Int, read: @escaping () -> V.State?
  ) -> ViewInstance
  func reader<State>(of instance: ViewInstance, as: State.Type) -> () -> State?
}
