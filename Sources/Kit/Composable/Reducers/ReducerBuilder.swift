/// What a composition was resolved to: its steps in order.
public struct ReducerSteps<State, Action: Sendable>: Reducer {
  public typealias Body = Never
  @usableFromInline let steps: [ReducerStep<State, Action>]

  @inlinable
  public init(_ steps: [ReducerStep<State, Action>]) { self.steps = steps }

  @inlinable
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    BuiltReducer(steps).reduce(into: &state, action: action)
  }

  @inlinable
  public func build() -> BuiltReducer<State, Action> { BuiltReducer(steps) }
}

/// Composes reducers: those listed run one after the other for each action.
@resultBuilder
public enum ReducerBuilder<State, Action: Sendable> {
  @inlinable
  public static func buildExpression<R: Reducer>(
    _ reducer: R
  ) -> [ReducerStep<State, Action>] where R.State == State, R.Action == Action {
    if let steps = reducer as? ReducerSteps<State, Action> { return steps.steps }
    let built = reducer.build()
    return [ReducerStep { state, action in built.reduce(into: &state, action: action) }]
  }

  /// A reducer that is one step stays one step.
  @inlinable
  public static func buildExpression(_ reducer: Reduce<State, Action>) -> [ReducerStep<
    State, Action
  >] {
    [ReducerStep(reducer.closure)]
  }

  @inlinable
  public static func buildExpression(
    _ reducer: ReducerSteps<State, Action>
  ) -> [ReducerStep<State, Action>] { reducer.steps }

  @inlinable
  public static func buildBlock(_ parts: [ReducerStep<State, Action>]...) -> [ReducerStep<
    State, Action
  >] {
    Array(parts.joined())
  }

  @inlinable
  public static func buildOptional(_ part: [ReducerStep<State, Action>]?) -> [ReducerStep<
    State, Action
  >] {
    part ?? []
  }

  @inlinable
  public static func buildEither(first part: [ReducerStep<State, Action>]) -> [ReducerStep<
    State, Action
  >] {
    part
  }

  @inlinable
  public static func buildEither(second part: [ReducerStep<State, Action>]) -> [ReducerStep<
    State, Action
  >] {
    part
  }

  @inlinable
  public static func buildArray(_ parts: [[ReducerStep<State, Action>]]) -> [ReducerStep<
    State, Action
  >] {
    Array(parts.joined())
  }

  @inlinable
  public static func buildFinalResult(
    _ steps: [ReducerStep<State, Action>]
  ) -> ReducerSteps<State, Action> { ReducerSteps(steps) }
}

/// A reducer given by a closure.
public struct Reduce<State, Action: Sendable>: Reducer {
  public typealias Body = Never
  @usableFromInline let closure: (inout State, Action) -> Effect<Action>

  @inlinable
  public init(_ closure: @escaping (inout State, Action) -> Effect<Action>) {
    self.closure = closure
  }

  @inlinable
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    closure(&state, action)
  }
}

/// A reducer that does nothing; a stand-in for a child that is not of interest.
public struct EmptyReducer<State, Action: Sendable>: Reducer {
  public typealias Body = Never
  @inlinable public init() {}
  @inlinable
  public func reduce(into state: inout State, action: Action) -> Effect<Action> { .none }
}
