/// Gives each stored field of a struct a dirty bit and a descriptor, so that a store can tell
/// observers which fields changed.
///
/// Stored properties get accessors that note changes; an assignment of an equal value notes none.
/// Equality, hashing and coding are the same as without the macro. A field whose type cannot
/// be inferred from its initial value needs a type annotation.
///
/// On an enum each case is a child: its payload is mutated and observed in place.
@attached(
  member, names: named(_$changes), named(Fields), named(_$fields), named(_$fieldNames),
  named(_$ignoredFields), named(_$enter), named(_$leave), named(_$drain), named(_$tag),
  named(Lenses), named(_$collectChanges), named(_$collectUnnoted), named(_$collectSizes),
  named(customMirror),
  named(Cases), named(_$cases), named(_$caseNames), named(CaseLenses), named(CodingKeys),
  named(_$payloadID))
@attached(memberAttribute)
@attached(
  extension, conformances: ObservableState, CasePathable, CustomReflectable)
public macro ObservableState() =
  #externalMacro(module: "ComposableMacros", type: "ObservableStateMacro")

/// Does not report changes of a field to the observers of its own state.
///
/// Scoping into it still works, and its own observers are called as before: a parent's view is not
/// evaluated when an ignored child changes, the child's view is.
@attached(peer)
public macro ObservationStateIgnored() =
  #externalMacro(module: "ComposableMacros", type: "ObservationStateIgnoredMacro")

/// Added to each field by `@ObservableState`; not written by hand.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_))
public macro ObservationStateField(_ index: Int) =
  #externalMacro(module: "ComposableMacros", type: "ObservationStateFieldMacro")

/// Gives each case of an enum a path: how to make it, how to look into it, and its number.
@attached(
  member, names: named(Cases), named(_$cases), named(_$caseNames), named(_$tag), named(CaseLenses))
@attached(extension, conformances: CasePathable)
public macro CasePathable() =
  #externalMacro(module: "ComposableMacros", type: "CasePathableMacro")

/// Makes a struct a reducer: conformance, and `@CasePathable` for its `Action`.
///
/// On an enum whose cases each carry a feature, it combines the features: `State` and `Action` with
/// a case per feature, and `Features`, a reducer that is made of the features.
///
///     @Reducer enum Destination { case add(AddSong); case edit(EditSong) }
///     …
///     var destination: Destination.State?
///     …
///     case destination(PresentationAction<Destination.Action>)
///     …
///     Reduce { … }.presents(\.destination, action: \.destination) {
///       Destination.Features(add: AddSong(client: client), edit: EditSong())
///     }
@attached(memberAttribute)
@attached(member, names: named(State), named(Action), named(Features))
@attached(extension, conformances: Reducer, names: named(Prepared))
public macro Reducer() = #externalMacro(module: "ComposableMacros", type: "ReducerMacro")
