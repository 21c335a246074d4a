/// Composes reducers, which run in sequence for each action.
///
/// The result is one value whose type describes the whole composition, so that the compiler can
/// inline all of it. Conditions are evaluated once, when the store is made.
@resultBuilder
public enum ReducerBuilder<State, Action: Sendable> {
  /// Builds a part of the composition.
  @inlinable
  public static func buildExpression<R: ReducerStep<State, Action>>(_ step: R) -> R { step }

  /// Builds a part from another feature with the same state and actions.
  @inlinable @_disfavoredOverload
  public static func buildExpression<R: Reducer<State, Action>>(_ reducer: R) -> EmbeddedReducer<
    State, Action, R
  > { EmbeddedReducer(reducer) }

  /// Builds an empty body.
  @inlinable
  public static func buildBlock() -> EmptyReducer<State, Action> { EmptyReducer() }

  /// Builds the first part of a body.
  @inlinable
  public static func buildPartialBlock<R: ReducerStep<State, Action>>(first: R) -> R { first }

  /// Builds a further part of a body, which runs after the parts before it.
  @inlinable
  public static func buildPartialBlock<
    First: ReducerStep<State, Action>, Second: ReducerStep<State, Action>
  >(
    accumulated: First, next: Second
  ) -> ReducerSequence<State, Action, First, Second> { ReducerSequence(accumulated, next) }

  /// Builds an `if` without an `else`.
  @inlinable
  public static func buildOptional<R: ReducerStep<State, Action>>(_ step: R?) -> OptionalReducer<
    State, Action, R
  > { OptionalReducer(step) }

  /// Builds the first branch of an `if` or a `switch`.
  @inlinable
  public static func buildEither<
    First: ReducerStep<State, Action>, Second: ReducerStep<State, Action>
  >(
    first step: First
  ) -> EitherReducer<State, Action, First, Second> { .first(step) }

  /// Builds the other branches.
  @inlinable
  public static func buildEither<
    First: ReducerStep<State, Action>, Second: ReducerStep<State, Action>
  >(
    second step: Second
  ) -> EitherReducer<State, Action, First, Second> { .second(step) }

  /// Builds a `for` loop.
  @inlinable
  public static func buildArray<R: ReducerStep<State, Action>>(_ steps: [R]) -> ReducerList<
    State, Action, R
  > { ReducerList(steps) }

  /// Builds the body as one function.
  @inlinable
  public static func buildFinalResult<R: ReducerStep<State, Action>>(_ step: R) -> ReducerSteps<
    State, Action
  > {
    ReducerSteps(
      ActionCounter(names: []), step.childCounters,
      hasChild: { state, scope in step.hasChild(scope, in: state) }
    ) { state, action in
      step.reduce(into: &state, action: action)
    }
  }

  // Actions are counted here and not around the result, so that the `switch` over kinds is inlined.
  /// Builds the body as one function that counts the actions by kind.
  @inlinable
  public static func buildFinalResult<R: ReducerStep<State, Action>>(_ step: R) -> ReducerSteps<
    State, Action
  >
  where Action: CasePathable {
    let counter = ActionCounter(names: Action._$caseNames)
    return ReducerSteps(
      counter, step.childCounters, hasChild: { state, scope in step.hasChild(scope, in: state) }
    ) { state, action in
      counter.count(action._$tag)
      return step.reduce(into: &state, action: action)
    }
  }
}

/// A part of a composition, whose children are already prepared.
public protocol ReducerStep<State, Action> {
  /// The state that the part changes.
  associatedtype State
  /// The actions that the part handles.
  associatedtype Action: Sendable

  /// Changes `state` in place and returns the effects of the action.
  func reduce(into state: inout State, action: Action) -> Effect<Action>

  /// Returns whether the child to which an effect belongs still exists and was not replaced by
  /// another.
  func hasChild(_ scope: EffectScope, in state: State) -> Bool

  /// The counters of the children in this part.
  var childCounters: [ChildCounter] { get }
}

extension ReducerStep {
  @inlinable public func hasChild(_ scope: EffectScope, in state: State) -> Bool { true }
  @inlinable public var childCounters: [ChildCounter] { [] }
}
