public import Composable

/// What a view needs to put other views on the screen.
///
///     context.child(HeaderView(), state, \.header)
public struct ViewContext {
  let evaluation: Evaluation

  /// What the view keeps from one evaluation to the next, in order to be done sooner: one object, made in the first of
  /// them. The view must look as it would without it.
  public func kept<Kept: AnyObject>(_ make: () -> Kept) -> Kept { evaluation.kept(make) }

  /// The view of a child state.
  ///
  /// Over a tracked field this hands the child's state down: a read of the whole child, and the child
  /// is evaluated with its parent. Over an ignored field the child is evaluated on its own account only.
  public func child<Parent: ObservableState, Child: View>(
    _ view: Child, _ state: Observed<Parent>, _ field: FieldKey<Parent, Child.State>
  ) -> ViewNode {
    evaluation.child(view, state, field)
  }

  /// The view of an optional child state; empty while that is `nil`, whose coming and going is a read.
  public func child<Parent: ObservableState, Child: View>(
    _ view: Child, _ state: Observed<Parent>, _ field: FieldKey<Parent, Child.State?>
  ) -> ViewNode {
    evaluation.child(view, state, field)
  }

  /// The views of the elements of a collection, in its order.
  ///
  ///     .column(context.each(RowView(), state, \.rows))
  ///
  /// Over an ignored field each element is evaluated on its own account, and the coming, going and moving of elements is a
  /// read. Over a tracked field the whole collection is handed down.
  ///
  /// - Complexity: O(elements), for each evaluation of the parent.
  public func each<Parent: ObservableState, ID: Hashable & Sendable, Child: View>(
    _ view: Child, _ state: Observed<Parent>,
    _ field: FieldKey<Parent, KeyedCollection<ID, Child.State>>
  ) -> [ViewNode] {
    evaluation.each(view, state, field)
  }

  /// The views of the elements of a collection whose elements are enums, in its order: of a stack of screens, say.
  ///
  ///     .column(
  ///       context.each(
  ///         state, \.path, CaseView(SongView(), case: \.song), CaseView(AlbumView(), case: \.album)))
  ///
  /// An element whose case has no view is empty. Reads are those of ``each(_:_:_:)``; that an element becomes another
  /// case is one, too.
  ///
  /// - Complexity: O(elements), for each evaluation of the parent.
  public func each<
    Parent: ObservableState, ID: Hashable & Sendable, Phase: ObservableState & CasePathable
  >(
    _ state: Observed<Parent>, _ field: FieldKey<Parent, KeyedCollection<ID, Phase>>,
    _ views: CaseView<Phase>...
  ) -> [ViewNode] {
    evaluation.each(views, state, field)
  }

  /// The view of a case of an enum field; empty while the field is another case.
  ///
  ///     .column([
  ///       context.child(LobbyView(), state, \.phase, case: \.waiting),
  ///       context.child(ShowView(), state, \.phase, case: \.live),
  ///     ])
  ///
  /// Over an ignored field the view is evaluated on its own account, and only another case is a read of the parent. Over a
  /// tracked field the payload is handed down.
  public func child<
    Parent: ObservableState, Phase: ObservableState & CasePathable, Child: View
  >(
    _ view: Child, _ state: Observed<Parent>, _ key: FieldKey<Parent, Phase>,
    case path: CaseKey<Phase, Child.State>
  ) -> ViewNode {
    let field = Parent._$fields[keyPath: key]
    return evaluation.child(
      view, state, field: field.index, Phase._$cases[keyPath: path], field.get)
  }

  /// The view of a case of an optional enum field, such as what is presented; empty while the field is `nil` or another
  /// case.
  ///
  ///     context.child(SettingsView(), state, \.destination, case: \.settings)
  public func child<
    Parent: ObservableState, Phase: ObservableState & CasePathable, Child: View
  >(
    _ view: Child, _ state: Observed<Parent>, _ key: FieldKey<Parent, Phase?>,
    case path: CaseKey<Phase, Child.State>
  ) -> ViewNode {
    let field = Parent._$fields[keyPath: key]
    return evaluation.child(
      view, state, field: field.index, Phase._$cases[keyPath: path], field.get)
  }

  /// The view of a case of a state that is an enum as a whole; empty while it is another case.
  ///
  ///     context.child(HomeView(), state, case: \.signedIn)
  ///
  /// It is evaluated on its own account; only another case is a read of this view.
  public func child<Phase: ObservableState & CasePathable, Child: View>(
    _ view: Child, _ state: Observed<Phase>, case path: CaseKey<Phase, Child.State>
  ) -> ViewNode {
    evaluation.child(view, state, Phase._$cases[keyPath: path])
  }
}
