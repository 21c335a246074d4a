public import Composable

/// What a view needs to put other views on the screen.
///
///     context.child(HeaderView(), state, \.header)
public struct ViewContext {
  let evaluation: Evaluation

  /// The view of a child state.
  ///
  /// Over a tracked field this hands the child's state down: a read of the whole child, and the child
  /// is evaluated with its parent. Over an ignored field the child is evaluated on its own account only.
  public func child<Parent: ObservableState, Child: View>(
    _ view: Child, _ state: Observed<Parent>, _ field: FieldKey<Parent, Child.State>
  ) -> ViewNode {
    evaluation.child(view, state, Parent._$fields[keyPath: field])
  }

  /// The view of an optional child state; empty while that is `nil`, whose coming and going is a read.
  public func child<Parent: ObservableState, Child: View>(
    _ view: Child, _ state: Observed<Parent>, _ field: FieldKey<Parent, Child.State?>
  ) -> ViewNode {
    evaluation.child(view, state, Parent._$fields[keyPath: field])
  }
}
