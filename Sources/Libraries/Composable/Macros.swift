/// Lets a store notify the observers of the changed fields of a state.
///
/// Each stored field of a struct gets a dirty bit, a descriptor, and accessors that record changes.
/// The assignment of an equal value is not a change. Equality, hashing and coding are unaffected. A
/// field whose type cannot be inferred from its initial value needs a type annotation.
///
/// In an enum, each case is a child whose payload is mutated and observed in place.
@attached(
  member, names: named(_$changes), named(Fields), named(_$fields), named(_$fieldNames),
  named(_$ignoredFields), named(_$enter), named(_$leave), named(_$drain), named(_$tag),
  named(Lenses), named(_$collectChanges), named(_$collectUnrecorded), named(_$collectSizes),
  named(customMirror),
  named(Cases), named(_$cases), named(_$caseNames), named(CaseLenses), named(CodingKeys),
  named(_$payloadID))
@attached(memberAttribute)
@attached(
  extension, conformances: ObservableState, CasePathable, CustomReflectable)
public macro ObservableState() =
  #externalMacro(module: "ComposableMacros", type: "ObservableStateMacro")

/// Hides changes of a field from the observers of the state that contains the field.
///
/// Scoping into the field still works, and observers of the field's own state are still called.
/// When an ignored child changes, the child's view is evaluated but the parent's view is not.
@attached(peer)
public macro ObservationStateIgnored() =
  #externalMacro(module: "ComposableMacros", type: "ObservationStateIgnoredMacro")

/// Added to each field by `@ObservableState`. Do not write this attribute by hand.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_))
public macro ObservationStateField(_ index: Int) =
  #externalMacro(module: "ComposableMacros", type: "ObservationStateFieldMacro")

/// Adds a ``CasePath`` for each case of an enum.
@attached(
  member, names: named(Cases), named(_$cases), named(_$caseNames), named(_$tag), named(CaseLenses))
@attached(extension, conformances: CasePathable)
public macro CasePathable() =
  #externalMacro(module: "ComposableMacros", type: "CasePathableMacro")

/// Makes a struct a reducer: adds the conformance, and `@CasePathable` for its `Action`.
///
/// Applied to an enum whose cases each carry a feature, the macro generates `State` and `Action`
/// with one case per feature, and `Features`, a reducer composed of the features.
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
@attached(extension, conformances: Reducer, FeatureTypes, names: named(Prepared))
public macro Reducer() = #externalMacro(module: "ComposableMacros", type: "ReducerMacro")
