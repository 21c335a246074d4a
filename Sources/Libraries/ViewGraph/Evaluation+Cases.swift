import Composable

/// Evaluates views of the cases of enums.
extension Evaluation {
  /// A pseudo-field that represents a change of the case. Such a change is reported as a change of
  /// all fields. A change inside a case is reported only under the tag of the case.
  static let otherCase = FieldSet.capacity - 1

  /// Returns the view of a case of an enum in a field of the state.
  func child<Parent: ObservableState, Phase: ObservableState & CasePathable, Child: View>(
    _ view: Child, _ state: Observed<Parent>, field index: Int,
    _ path: CasePath<Phase, Child.State>, _ get: @escaping (Parent) -> Phase?
  ) -> ViewNode {
    let node = instance.node.makeChild(index, ignored: Phase._$ignoredFields)
    let isPassedDown = recordRead(index)
    if !isPassedDown { structure[index] = Self.observingCase(of: node) }
    guard get(state.state).flatMap(path.extract) != nil else { return .empty }
    let key = ChildKey(field: index, view: ObjectIdentifier(Child.self), tag: path.tag)
    return put(view, key, isPassedDown) {
      (node.makeChild(path.tag, ignored: Child.State._$ignoredFields), nil)
    } read: { [read = graph.reader(of: instance, as: Parent.self)] in
      read().flatMap(get).flatMap(path.extract)
    }
  }

  /// Returns the view of a case of a state that is an enum.
  func child<Phase: ObservableState & CasePathable, Child: View>(
    _ view: Child, _ state: Observed<Phase>, _ path: CasePath<Phase, Child.State>
  ) -> ViewNode {
    let node = instance.node
    structure[Self.otherCase] = Self.observingCase(of: node)
    guard path.extract(state.state) != nil else { return .empty }
    let key = ChildKey(field: Self.otherCase, view: ObjectIdentifier(Child.self), tag: path.tag)
    return put(view, key, false) {
      (node.makeChild(path.tag, ignored: Child.State._$ignoredFields), nil)
    } read: { [read = graph.reader(of: instance, as: Phase.self)] in
      read().flatMap(path.extract)
    }
  }

  private static func observingCase(
    of node: ObservationNode
  ) -> (@escaping () -> Void) -> Observer {
    { onChange in node.observe(FieldSet(field: otherCase)) { _ in onChange() } }
  }

  /// Returns the views of the elements of a collection, each selected by its case.
  func each<
    Parent: ObservableState, ID: Hashable & Sendable, Phase: ObservableState & CasePathable
  >(
    _ views: [CaseView<Phase>], _ state: Observed<Parent>,
    _ key: FieldKey<Parent, KeyedCollection<ID, Phase>>
  ) -> [ViewNode] {
    let field = Parent._$fields[keyPath: key]
    let point = graph.point(of: instance, as: Parent.self)?.child(key)
    let isPassedDown = recordRead(field.index) || point == nil
    let read = graph.reader(of: instance, as: Parent.self)
    let collection = field.get(state.state)
    if let point, !isPassedDown {
      instance.cases[field.index] = collection.tags
      structure[field.index] = observingElements(of: point, field) { read().map(field.get) }
    } else {
      reads.record(field.index)
    }
    let node = instance.node.makeChild(field.index, ignored: [])
    return collection.ids.map { id in
      guard let slot = collection.slot(of: id), let phase = collection[slot: slot],
        let view = views.first(where: { $0.tag == phase._$tag })
      else { return .empty }
      let element: ObservationPoint<Phase>? = point?.element(slot, id: id)
      return view.put(
        self, field.index, ElementKey(id: AnyHashable(id), slot: slot), isPassedDown,
        { element?.makeNode() ?? node }, { read().flatMap { field.get($0)[id: id] } })
    }
  }

  /// Returns a closure that observes the structure of a collection and its elements' cases.
  private func observingElements<
    Parent, ID: Hashable & Sendable, Phase: ObservableState & CasePathable
  >(
    of point: ObservationPoint<KeyedCollection<ID, Phase>>,
    _ field: Field<Parent, KeyedCollection<ID, Phase>>,
    _ read: @escaping () -> KeyedCollection<ID, Phase>?
  ) -> (@escaping () -> Void) -> Observer {
    { [unowned instance] onChange in
      point.observeElements { changes in
        let isStructural =
          changes.contains(where: \.isStructural)
          || changes.contains { changes in
            let (known, now) = (instance.cases[field.index], read())
            return changes.updated.contains { known?[$0.slot] != now?[slot: $0.slot]?._$tag }
          }
        if isStructural { onChange() }
      }
    }
  }
}

extension KeyedCollection where Element: CasePathable {
  /// The case of each element.
  fileprivate var tags: [KeyedSlot: Int] {
    var tags: [KeyedSlot: Int] = [:]
    for index in indices { tags[slot(at: index)] = self[index]._$tag }
    return tags
  }
}
