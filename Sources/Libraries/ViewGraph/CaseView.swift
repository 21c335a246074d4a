public import Composable

/// The view of one case, for a collection of enums such as the screens of a stack.
public struct CaseView<Phase: ObservableState & CasePathable> {
  let tag: Int
  let put:
    (
      _ evaluation: Evaluation, _ field: Int, _ element: ElementKey, _ isPassedDown: Bool,
      _ node: () -> ObservationNode, _ read: @escaping () -> Phase?
    ) -> ViewNode

  /// Makes a view that shows elements in the case `key`.
  public init<V: View>(_ view: V, case key: CaseKey<Phase, V.State>) {
    let path = Phase._$cases[keyPath: key]
    tag = path.tag
    put = { evaluation, field, element, isPassedDown, node, read in
      let key = ChildKey(
        field: field, view: ObjectIdentifier(V.self), element: element, tag: path.tag)
      return evaluation.put(view, key, isPassedDown) {
        (node().makeChild(path.tag, ignored: V.State._$ignoredFields), nil)
      } read: {
        read().flatMap(path.extract)
      }
    }
  }
}
