// Names of The Composable Architecture that do not exist here. Each error names the replacement for
// code that is being ported. <doc:ComingFromTCA> has the whole list.

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

@available(*, unavailable, renamed: "String", message: "alerts use plain strings")
public typealias TextState = String

@available(
  *, unavailable,
  message:
    "no protocol is needed: 'case binding(BindingAction<State>)' and 'BindingReducer(action: \\.binding)'"
)
public protocol BindableAction {}

@available(
  *, unavailable,
  message:
    "no protocol is needed: declare 'case view(View)', and send '.view(.saveTapped)' to the store"
)
public protocol ViewAction {}

@available(
  *, unavailable,
  message: "remove the arguments: the states of an enum of features are Equatable and Sendable"
)
@attached(memberAttribute)
@attached(member, names: named(State), named(Action), named(Features))
@attached(extension, conformances: Reducer, FeatureTypes, names: named(Prepared))
public macro Reducer(
  state: SynthesizedConformanceElsewhere..., action: SynthesizedConformanceElsewhere...
) = #externalMacro(module: "ComposableMacros", type: "ReducerMacro")

@available(*, unavailable, message: "remove the arguments of '@Reducer'")
public enum SynthesizedConformanceElsewhere {
  case codable, decodable, encodable, equatable, hashable, sendable
}

@available(*, unavailable, message: "use 'Mutex' of the module Synchronization")
public struct LockIsolated<Value>: Sendable {
  public init(_ value: @autoclosure () throws -> Value) rethrows { unavailable() }

  public var value: Value { unavailable() }

  public func setValue(_ value: @autoclosure () throws -> Value) rethrows { unavailable() }

  public func withValue<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    unavailable()
  }
}

@available(
  *, unavailable,
  message: "cancel the whole effect: '.run { … }.cancellable(id: …, cancelInFlight: true)'"
)
public func withTaskCancellation<Result>(
  id: some Hashable & Sendable, cancelInFlight: Bool = false,
  operation: () async throws -> Result
) async rethrows -> Result { unavailable() }

@available(*, unavailable, message: "leave the animation to the view that shows the state")
public struct AnimationElsewhere {
  public static var `default`: AnimationElsewhere { unavailable() }
  public static var easeIn: AnimationElsewhere { unavailable() }
  public static var easeInOut: AnimationElsewhere { unavailable() }
  public static var easeOut: AnimationElsewhere { unavailable() }
  public static var linear: AnimationElsewhere { unavailable() }
  public static var spring: AnimationElsewhere { unavailable() }
}

@available(*, unavailable, message: "leave it out: the view that shows the dialog decides")
public enum TitleVisibilityElsewhere { case automatic, hidden, visible }

/// Makes `@ObservableState` report an error that names the replacement.
@attached(peer)
public macro Presents() =
  #externalMacro(module: "ComposableMacros", type: "ObservationStateIgnoredMacro")

extension Effect {
  @available(
    *, unavailable, message: "write 'send(action)': animate in the view that shows the state"
  )
  public static func send(_ action: Action, animation: AnimationElsewhere?) -> Effect {
    unavailable()
  }

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

extension Send {
  @available(
    *, unavailable, message: "write 'send(action)': animate in the view that shows the state"
  )
  public func callAsFunction(_ action: Action, animation: AnimationElsewhere?) { unavailable() }
}

extension KeyedCollection where ID == StackElementID, Element: CasePathable {
  @available(
    *, unavailable,
    message:
      "use 'path[id: id]?.detail' to read a screen, and 'path[id: id]?.modify(\\.detail) { … }' to change it"
  )
  public subscript<Value>(id id: StackElementID, case key: CaseKey<Element, Value>) -> Value? {
    get { unavailable() }
    set { unavailable() }
  }
}

extension AlertState {
  @available(
    *, unavailable,
    message: "leave out 'titleVisibility': the view of the dialog decides whether to show the title"
  )
  public init(
    titleVisibility: TitleVisibilityElsewhere, title: () -> String,
    @ButtonsBuilder<Action> actions: () -> [ButtonState<Action>] = { [] },
    message: () -> String = { "" }
  ) { unavailable() }
}

extension Shared {
  @available(*, unavailable, renamed: "init(_:)")
  public convenience init(value: Value) { unavailable() }
}

extension ReducerStep {
  @available(
    *, unavailable,
    message:
      "react in '.onChange(of: \\.count) { state, action in … }', in '{ old, new, state, action in … }' for a small value, or in 'case .binding(\\.count)'"
  )
  @_disfavoredOverload
  public func onChange<Value, Reaction>(
    of value: (State) -> Value,
    @ReducerBuilder<State, Action> _ reaction: (_ old: Value, _ new: Value) -> Reaction
  ) -> Self { unavailable() }
}

extension Clock {
  @available(
    *, unavailable, message: "return '.timer(every: …, clock: …) { _ in .ticked }' from the reducer"
  )
  public func timer(
    interval: Swift.Duration, tolerance: Swift.Duration? = nil
  ) -> AsyncStream<Void> { unavailable() }
}

/// The body of declarations that cannot be called.
package func unavailable() -> Never { preconditionFailure("this cannot be called") }
