/// Combines several reducers into one, either to apply a modifier to all of them or because a
/// single reducer is expected.
///
///     CombineReducers {
///       Reduce { … }
///       Logging()
///     }
///     .ifLet(\.player, action: \.player) { Player() }
public struct CombineReducers<State, Action: Sendable>: Reducer, ReducerStep {
  public typealias Body = Never
  public typealias Prepared = ReducerSteps<State, Action>

  @usableFromInline let steps: ReducerSteps<State, Action>

  /// Makes a reducer that runs the reducers in `build` in sequence.
  @inlinable
  public init(@ReducerBuilder<State, Action> _ build: () -> ReducerSteps<State, Action>) {
    steps = build()
  }

  @inlinable public func prepare() -> ReducerSteps<State, Action> { steps }
  @inlinable public func makeSteps() -> ReducerSteps<State, Action> { steps }

  @inlinable @inline(__always)
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    steps.reduce(into: &state, action: action)
  }

  @inlinable
  public func hasChild(_ scope: EffectScope, in state: State) -> Bool {
    steps.hasChild(scope, in: state)
  }

  @inlinable public var childCounters: [ChildCounter] { steps.childCounters }
}
