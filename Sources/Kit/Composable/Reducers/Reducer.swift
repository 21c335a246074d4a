/// How a feature's state follows from its actions, and which effects an action has.
///
/// Implement either ``reduce(into:action:)`` or, to compose others, ``body-swift.property``. A store
/// builds a reducer once; nothing of the composition is made again while actions are sent.
public protocol Reducer<State, Action> {
  associatedtype State
  associatedtype Action: Sendable
  associatedtype Body

  /// Changes `state` in place and returns what is to be done besides.
  ///
  /// Runs on the store's lane and must return soon: work that is heavy on the CPU belongs in an
  /// effect. A parent that needs this logic may call it directly instead of sending an action.
  func reduce(into state: inout State, action: Action) -> Effect<Action>

  @ReducerBuilder<State, Action> var body: Body { get }

  /// The reducer with its composition resolved. Called once per store.
  func build() -> BuiltReducer<State, Action>
}

/// The reducer of a feature's own state and action.
public typealias ReducerOf<R: Reducer> = Reducer<R.State, R.Action>

extension Reducer where Body == Never {
  /// A reducer without composition has no body.
  public var body: Never {
    preconditionFailure("\(Self.self) implements reduce(into:action:); it has no body")
  }
}

extension Reducer where Body == Never {
  @inlinable
  public func build() -> BuiltReducer<State, Action> {
    BuiltReducer([ReducerStep { state, action in self.reduce(into: &state, action: action) }])
  }
}

extension Reducer where Body == Never, Action: CasePathable {
  @inlinable
  public func build() -> BuiltReducer<State, Action> {
    BuiltReducer(
      [ReducerStep { state, action in self.reduce(into: &state, action: action) }],
      tag: { $0._$tag }, names: Action._$caseNames)
  }
}

extension Reducer where Body == ReducerSteps<State, Action> {
  /// Runs the composition. Builds it anew: for tests and rare calls; a store builds once.
  @inlinable
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    build().reduce(into: &state, action: action)
  }

  @inlinable
  public func build() -> BuiltReducer<State, Action> { BuiltReducer(body.steps) }
}

extension Reducer where Body == ReducerSteps<State, Action>, Action: CasePathable {
  @inlinable
  public func build() -> BuiltReducer<State, Action> {
    BuiltReducer(body.steps, tag: { $0._$tag }, names: Action._$caseNames)
  }
}
