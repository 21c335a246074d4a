// Names of The Composable Architecture that are not used here. Each says what is written in its place, so that code
// that is moved meets a remedy rather than "cannot find"; <doc:ComingFromTCA> has the whole list.

@available(*, unavailable, renamed: "KeyedCollectionOf")
public typealias IdentifiedArrayOf<Element: Identifiable> = KeyedCollection<Element.ID, Element>

@available(*, unavailable, renamed: "KeyedCollection")
public typealias IdentifiedArray<ID: Hashable, Element> = KeyedCollection<ID, Element>

@available(*, unavailable, renamed: "ElementActionOf")
public typealias IdentifiedActionOf<Feature: FeatureTypes> = ElementAction<
  Feature.State.ID, Feature.Action
> where Feature.State: Identifiable, Feature.State.ID: Sendable

@available(*, unavailable, renamed: "ElementAction")
public typealias IdentifiedAction<ID: Hashable & Sendable, Action> = ElementAction<ID, Action>

@available(*, unavailable, renamed: "String", message: "texts are strings")
public typealias TextState = String

@available(
  *, unavailable,
  message:
    "no protocol is needed: 'case binding(BindingAction<State>)' and 'BindingReducer(action: \\.binding)'"
)
public protocol BindableAction {}

@available(
  *, unavailable,
  message: "conform to DependencyValue: its 'live' is the liveValue, its 'unset' the testValue"
)
public protocol DependencyKey {}

@available(
  *, unavailable,
  message: "conform to DependencyValue: its 'live' is the liveValue, its 'unset' the testValue"
)
public protocol TestDependencyKey {}

/// Stands for the dependencies of an extension that is not needed here: a value is found by its type, as in
/// `dependencies[SongClient.self]`.
@dynamicMemberLookup
public struct DependencyValues {
  @available(
    *, unavailable,
    message:
      "a dependency is found by its type, as in 'dependencies[SongClient.self]': remove this extension"
  )
  public subscript<Value>(key: Value.Type) -> Value {
    get { unavailable() }
    set { unavailable() }
  }

  /// For the attribute `@Dependency`, which says what is written in its place.
  public subscript(dynamicMember name: String) -> Never { unavailable() }
}

/// Says what is written in its place: a dependency is handed down in a property.
@attached(peer)
public macro Dependency<Value>(_ key: KeyPath<DependencyValues, Value>) =
  #externalMacro(module: "ComposableMacros", type: "DependencyMacro")

/// Says what is written in its place: a dependency is handed down in a property.
@attached(peer)
public macro Dependency<Value>(_ type: Value.Type) =
  #externalMacro(module: "ComposableMacros", type: "DependencyMacro")

/// `@ObservableState` says what is written in its place.
@attached(peer)
public macro Presents() =
  #externalMacro(module: "ComposableMacros", type: "ObservationStateIgnoredMacro")

@available(
  *, unavailable, message: "hand the dependencies to the feature: 'Feature(dependencies: .live())'"
)
public func withDependencies<Result>(
  _ update: (inout DependencyValues) throws -> Void, operation: () throws -> Result
) rethrows -> Result { unavailable() }

extension Effect {
  @available(
    *, unavailable,
    message: "pass a clock: '.debounce(id: …, for: .milliseconds(300), clock: dependencies.clock)'"
  )
  public func debounce<Pause, Scheduler>(
    id: some Hashable & Sendable, for pause: Pause, scheduler: Scheduler
  ) -> Effect { unavailable() }

  @available(
    *, unavailable,
    message:
      "pass a clock: '.throttle(id: …, for: .seconds(1), clock: dependencies.clock, latest: true)'"
  )
  public func throttle<Interval, Scheduler>(
    id: some Hashable & Sendable, for interval: Interval, scheduler: Scheduler, latest: Bool
  ) -> Effect { unavailable() }

  @available(*, unavailable, message: "use 'run(name:sequence:)' with an asynchronous sequence")
  public static func publisher<Publisher>(_ make: () -> Publisher) -> Effect { unavailable() }
}

extension Clock {
  @available(
    *, unavailable, message: "return '.timer(every: …, clock: …) { _ in .ticked }' from the reducer"
  )
  public func timer(
    interval: Swift.Duration, tolerance: Swift.Duration? = nil
  ) -> AsyncStream<Void> { unavailable() }
}

/// Stands in the bodies of what cannot be called.
package func unavailable() -> Never { preconditionFailure("this cannot be called") }
