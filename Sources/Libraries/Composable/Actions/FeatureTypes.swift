/// The state and action types of a feature. A struct with `@Reducer` declares these types; for an
/// enum of features, the macro generates them.
public protocol FeatureTypes {
  /// The feature's state.
  associatedtype State
  /// All actions of the feature.
  associatedtype Action: Sendable
}

/// An action of one element of a collection of features whose states are `Identifiable`.
public typealias ElementActionOf<Feature: FeatureTypes> = ElementAction<
  Feature.State.ID, Feature.Action
> where Feature.State: Identifiable, Feature.State.ID: Sendable

/// A store of a feature.
public typealias StoreOf<Feature: FeatureTypes> = Store<Feature.State, Feature.Action>
where Feature.State: ObservableState
