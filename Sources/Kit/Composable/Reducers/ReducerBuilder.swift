/// Composes reducers: those listed run one after the other for each action.
///
/// The result is one value whose type spells out the composition, so that the compiler sees through
/// all of it; conditions are decided once, when the store is made.
@resultBuilder
public enum ReducerBuilder<State, Action: Sendable> {
  /// A part of the composition.
  @inlinable
  public static func buildExpression<R: ReducerStep<State, Action>>(_ step: R) -> R { step }

  /// Another feature over the same state.
  @inlinable @_disfavoredOverload
  public static func buildExpression<R: Reducer<State, Action>>(_ reducer: R) -> EmbeddedReducer<
    State, Action, R
  > { EmbeddedReducer(reducer) }

  /// An empty body.
  @inlinable
  public static func buildBlock() -> EmptyReducer<State, Action> { EmptyReducer() }

  /// The first part of a body.
  @inlinable
  public static func buildPartialBlock<R: ReducerStep<State, Action>>(first: R) -> R { first }

  /// A further part of a body, which runs after those before it.
  @inlinable
  public static func buildPartialBlock<
    First: ReducerStep<State, Action>, Second: ReducerStep<State, Action>
  >(
    accumulated: First, next: Second
  ) -> ReducerSequence<State, Action, First, Second> { ReducerSequence(accumulated, next) }

  /// An `if` without an `else`.
  @inlinable
  public static func buildOptional<R: ReducerStep<State, Action>>(_ step: R?) -> OptionalReducer<
    State, Action, R
  > { OptionalReducer(step) }

  /// The first branch of an `if` or a `switch`.
  @inlinable
  public static func buildEither<
    First: ReducerStep<State, Action>, Second: ReducerStep<State, Action>
  >(
    first step: First
  ) -> EitherReducer<State, Action, First, Second> { .first(step) }

  /// The other branches.
  @inlinable
  public static func buildEither<
    First: ReducerStep<State, Action>, Second: ReducerStep<State, Action>
  >(
    second step: Second
  ) -> EitherReducer<State, Action, First, Second> { .second(step) }

  /// A `for`.
  @inlinable
  public static func buildArray<R: ReducerStep<State, Action>>(_ steps: [R]) -> ReducerList<
    State, Action, R
  > { ReducerList(steps) }

  /// The body as one function.
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

  // Here, and not around the result, the kind of an action is a `switch` that is inlined.
  /// The body as one function, which counts the actions by kind.
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

/// A part of a composition. Its children are prepared already.
public protocol ReducerStep<State, Action> {
  /// The state that it changes.
  associatedtype State
  /// The actions that it answers.
  associatedtype Action: Sendable

  /// Changes `state` in place and returns what is to be done besides.
  func reduce(into state: inout State, action: Action) -> Effect<Action>

  /// Whether the child that an effect belongs to still exists and is still the same one.
  func hasChild(_ scope: EffectScope, in state: State) -> Bool

  /// Counters of the children in this part.
  var childCounters: [ChildCounter] { get }
}

extension ReducerStep {
  @inlinable public func hasChild(_ scope: EffectScope, in state: State) -> Bool { true }
  @inlinable public var childCounters: [ChildCounter] { [] }
}
