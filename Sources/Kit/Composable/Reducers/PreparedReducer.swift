/// A reducer as a store or a parent holds it.
public protocol PreparedReducer<State> {
  /// The state that it changes.
  associatedtype State
  // Not declared `Sendable`, nor `Reaction` as an effect of it: the compiler would look for the
  // action's conformance here, from here in the reducer, and so on without end.
  /// The actions that it answers.
  associatedtype Action
  /// What it returns: an effect of the action.
  associatedtype Reaction

  /// Reduces and counts.
  func reduce(into state: inout State, action: Action) -> Reaction

  /// Whether the child that an effect belongs to still exists and is still the same one.
  ///
  /// - Parameter scope: the scope whose state this is; the path to the child follows its
  ///   ``EffectScope/next``.
  func hasChild(_ scope: EffectScope, in state: State) -> Bool

  /// How often each kind of action was reduced.
  var counter: ActionCounter { get }

  /// Counters of the children.
  var childCounters: [ChildCounter] { get }
}

extension PreparedReducer {
  @inlinable public func hasChild(_ scope: EffectScope, in state: State) -> Bool { true }
}

/// A reducer as one function.
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

/// A composition as one function, compiled where its parts are known: all of it is inlined there.
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
