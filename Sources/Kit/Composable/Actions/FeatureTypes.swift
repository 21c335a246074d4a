/// The types of a feature: of a struct with `@Reducer` that declares them, or of an enum of features.
public protocol FeatureTypes {
  /// The feature's state.
  associatedtype State
  /// Everything that can happen to it.
  associatedtype Action: Sendable
}

/// An action of one element of a collection of features whose states are `Identifiable`.
public typealias ElementActionOf<Feature: FeatureTypes> = ElementAction<
  Feature.State.ID, Feature.Action
> where Feature.State: Identifiable, Feature.State.ID: Sendable

/// A store of a feature.
public typealias StoreOf<Feature: FeatureTypes> = Store<Feature.State, Feature.Action>
where Feature.State: ObservableState
