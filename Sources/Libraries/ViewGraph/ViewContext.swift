public import Composable

/// The context in which a view adds child views to the screen.
///
///     context.child(HeaderView(), state, \.header)
public struct ViewContext {
  let evaluation: Evaluation

  /// Returns an object that the view keeps between evaluations, for example a cache. `make` is
  /// called in the first evaluation. The view's output must not depend on the object.
  public func kept<Kept: AnyObject>(_ make: () -> Kept) -> Kept { evaluation.kept(make) }

  /// Returns the view of a child state.
  ///
  /// If the field is tracked, the child's state is passed down: this records a read of the whole
  /// child, and the child is evaluated with its parent. If the field is ignored, the child is
  /// evaluated only when its own reads change.
  public func child<Parent: ObservableState, Child: View>(
    _ view: Child, _ state: Observed<Parent>, _ field: FieldKey<Parent, Child.State>
  ) -> ViewNode {
    evaluation.child(view, state, field)
  }

  /// Returns the view of an optional child state, or an empty node while the state is `nil`.
  /// Records a read of the child's presence.
  public func child<Parent: ObservableState, Child: View>(
    _ view: Child, _ state: Observed<Parent>, _ field: FieldKey<Parent, Child.State?>
  ) -> ViewNode {
    evaluation.child(view, state, field)
  }

  /// Returns the views of the elements of a collection, in order.
  ///
  ///     .column(context.each(RowView(), state, \.rows))
  ///
  /// If the field is ignored, each element is evaluated only when its own reads change, and the
  /// insertion, removal and movement of elements are recorded as a read. If the field is tracked,
  /// the whole collection is passed down.
  ///
  /// - Complexity: O(n) for n elements, for each evaluation of the parent.
  public func each<Parent: ObservableState, ID: Hashable & Sendable, Child: View>(
    _ view: Child, _ state: Observed<Parent>,
    _ field: FieldKey<Parent, KeyedCollection<ID, Child.State>>
  ) -> [ViewNode] {
    evaluation.each(view, state, field)
  }

  /// Returns the views of the elements of a collection of enums, in order, such as a stack of
  /// screens.
  ///
  ///     .column(
  ///       context.each(
  ///         state, \.path, CaseView(SongView(), case: \.song), CaseView(AlbumView(), case: \.album)))
  ///
  /// An element whose case has no view is shown as an empty node. The recorded reads are the same
  /// as for ``each(_:_:_:)``, and also include changes of the elements' cases.
  ///
  /// - Complexity: O(n) for n elements, for each evaluation of the parent.
  public func each<
    Parent: ObservableState, ID: Hashable & Sendable, Phase: ObservableState & CasePathable
  >(
    _ state: Observed<Parent>, _ field: FieldKey<Parent, KeyedCollection<ID, Phase>>,
    _ views: CaseView<Phase>...
  ) -> [ViewNode] {
    evaluation.each(views, state, field)
  }

  /// Returns the view of a case of an enum field, or an empty node while the field is another case.
  ///
  ///     .column([
  ///       context.child(LobbyView(), state, \.phase, case: \.waiting),
  ///       context.child(ShowView(), state, \.phase, case: \.live),
  ///     ])
  ///
  /// If the field is ignored, the view is evaluated only when its own reads change, and only a
  /// change of the case evaluates the parent. If the field is tracked, the payload is passed down.
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

  /// Returns the view of a case of an optional enum field, such as a presented child, or an empty
  /// node while the field is `nil` or another case.
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

  /// Returns the view of a case of a state that is itself an enum, or an empty node while the state
  /// is another case.
  ///
  ///     context.child(HomeView(), state, case: \.signedIn)
  ///
  /// The view is evaluated only when its own reads change. Only a change of the case evaluates the
  /// parent.
  public func child<Phase: ObservableState & CasePathable, Child: View>(
    _ view: Child, _ state: Observed<Phase>, case path: CaseKey<Phase, Child.State>
  ) -> ViewNode {
    evaluation.child(view, state, Phase._$cases[keyPath: path])
  }
}
