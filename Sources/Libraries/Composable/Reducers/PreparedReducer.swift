/// A reducer with its composition resolved, as a store or a parent holds it.
public protocol PreparedReducer<State> {
  /// The state that the reducer changes.
  associatedtype State
  // `Action` is not declared `Sendable`, and `Reaction` is not declared an effect of `Action`. With
  // these declarations, the compiler would search for the action's conformance alternately here and
  // in the reducer, without end.
  /// The actions that the reducer handles.
  associatedtype Action
  /// The result: an effect of the action.
  associatedtype Reaction

  /// Reduces an action and counts it.
  func reduce(into state: inout State, action: Action) -> Reaction

  /// Returns whether the child to which an effect belongs still exists and was not replaced by
  /// another. `scope` is the scope of this state, and ``EffectScope/next`` is the path to the
  /// child.
  func hasChild(_ scope: EffectScope, in state: State) -> Bool

  /// The counter of actions by kind.
  var counter: ActionCounter { get }

  /// The counters of the children.
  var childCounters: [ChildCounter] { get }
}

extension PreparedReducer {
  @inlinable public func hasChild(_ scope: EffectScope, in state: State) -> Bool { true }
}

/// A whole reducer as one function.
public typealias ReducerFunction<State, Action: Sendable> = (
  inout State, Action
) -> Effect<Action>

/// A reducer without composition, called directly.
public struct CountingReducer<Base: Reducer>: PreparedReducer {
  public let counter: ActionCounter
  @usableFromInline let base: Base

  @inlinable
  init(_ base: Base) {
    self.base = base
    counter = ActionCounter(names: Base.kindNames)
  }

  @inlinable @inline(__always)
  public func reduce(into state: inout Base.State, action: Base.Action) -> Effect<Base.Action> {
    counter.count(Base.kind(of: action))
    return base.reduce(into: &state, action: action)
  }

  @inlinable public var childCounters: [ChildCounter] { [] }
}

/// A composition compiled into one function, which is built where the types of all parts are known,
/// so that everything is inlined.
public struct ReducerSteps<State, Action: Sendable>: Reducer, PreparedReducer {
  public typealias Body = Never
  public typealias Prepared = ReducerSteps

  @usableFromInline let run: ReducerFunction<State, Action>
  @usableFromInline let hasChild: (State, EffectScope) -> Bool
  public let counter: ActionCounter
  public let childCounters: [ChildCounter]

  @inlinable
  init(
    _ counter: ActionCounter, _ children: [ChildCounter],
    hasChild: @escaping (State, EffectScope) -> Bool = { _, _ in true },
    _ run: @escaping ReducerFunction<State, Action>
  ) {
    self.run = run
    self.hasChild = hasChild
    self.counter = counter
    childCounters = children
  }

  @inlinable public func prepare() -> ReducerSteps { self }
  @inlinable public func makeSteps() -> ReducerSteps { self }

  @inlinable @inline(__always)
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    run(&state, action)
  }

  @inlinable
  public func hasChild(_ scope: EffectScope, in state: State) -> Bool { hasChild(state, scope) }
}
