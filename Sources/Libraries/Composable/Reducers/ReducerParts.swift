/// Two reducers that run in sequence.
public struct ReducerSequence<
  State, Action: Sendable, First: ReducerStep<State, Action>, Second: ReducerStep<State, Action>
>: ReducerStep {
  @usableFromInline let first: First
  @usableFromInline let second: Second

  @inlinable
  init(_ first: First, _ second: Second) {
    self.first = first
    self.second = second
  }

  @inlinable @inline(__always)
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    let effect = first.reduce(into: &state, action: action)
    return effect.followed(by: second.reduce(into: &state, action: action))
  }

  @inlinable
  public func hasChild(_ scope: EffectScope, in state: State) -> Bool {
    first.hasChild(scope, in: state) && second.hasChild(scope, in: state)
  }

  @inlinable
  public var childCounters: [ChildCounter] { first.childCounters + second.childCounters }
}

/// An `if` in a body: a reducer, or nothing if the condition is false when the composition is
/// built.
public struct OptionalReducer<
  State, Action: Sendable, Wrapped: ReducerStep<State, Action>
>: ReducerStep {
  @usableFromInline let wrapped: Wrapped?

  @inlinable init(_ wrapped: Wrapped?) { self.wrapped = wrapped }

  @inlinable @inline(__always)
  public func reduce(
    into state: inout State, action: Action
  ) -> Effect<Action> {
    wrapped?.reduce(into: &state, action: action) ?? .none
  }

  @inlinable
  public func hasChild(_ scope: EffectScope, in state: State) -> Bool {
    wrapped?.hasChild(scope, in: state) ?? true
  }

  @inlinable public var childCounters: [ChildCounter] { wrapped?.childCounters ?? [] }
}

/// An `if` with an `else`, or a `switch`, in a body: one of two reducers.
public enum EitherReducer<
  State, Action: Sendable, First: ReducerStep<State, Action>, Second: ReducerStep<State, Action>
>: ReducerStep {
  /// The first branch was taken.
  case first(First)
  /// The other branch was taken.
  case second(Second)

  @inlinable @inline(__always)
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch self {
    case .first(let step): step.reduce(into: &state, action: action)
    case .second(let step): step.reduce(into: &state, action: action)
    }
  }

  @inlinable
  public func hasChild(_ scope: EffectScope, in state: State) -> Bool {
    switch self {
    case .first(let step): step.hasChild(scope, in: state)
    case .second(let step): step.hasChild(scope, in: state)
    }
  }

  @inlinable
  public var childCounters: [ChildCounter] {
    switch self {
    case .first(let step): step.childCounters
    case .second(let step): step.childCounters
    }
  }
}

/// A `for` in a body: several reducers of one type.
public struct ReducerList<
  State, Action: Sendable, Element: ReducerStep<State, Action>
>: ReducerStep {
  @usableFromInline let elements: [Element]

  @inlinable init(_ elements: [Element]) { self.elements = elements }

  @inlinable @inline(__always)
  public func reduce(
    into state: inout State, action: Action
  ) -> Effect<Action> {
    var effect = Effect<Action>.none
    for element in elements {
      effect = effect.followed(by: element.reduce(into: &state, action: action))
    }
    return effect
  }

  @inlinable
  public func hasChild(_ scope: EffectScope, in state: State) -> Bool {
    elements.allSatisfy { $0.hasChild(scope, in: state) }
  }

  @inlinable public var childCounters: [ChildCounter] { elements.flatMap(\.childCounters) }
}

/// Another feature with the same state and actions, prepared once.
public struct EmbeddedReducer<
  State, Action: Sendable, Base: Reducer<State, Action>
>: ReducerStep {
  @usableFromInline let base: Base.Prepared

  @inlinable init(_ base: Base) { self.base = base.prepare() }

  @inlinable @inline(__always)
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    base.reduce(into: &state, action: action)
  }

  @inlinable
  public func hasChild(_ scope: EffectScope, in state: State) -> Bool {
    base.hasChild(scope, in: state)
  }

  @inlinable public var childCounters: [ChildCounter] { base.childCounters }
}

/// A reducer that consists of a closure.
public struct Reduce<State, Action: Sendable>: Reducer, ReducerStep {
  public typealias Body = Never
  public typealias Prepared = CountingReducer<Reduce>

  @usableFromInline let run: ReducerFunction<State, Action>

  /// Makes a reducer that calls `closure` for each action.
  @inlinable
  public init(_ closure: @escaping (inout State, Action) -> Effect<Action>) {
    run = closure
  }

  @inlinable @inline(__always)
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    run(&state, action)
  }
}

/// A reducer that does nothing, used as a placeholder for a child in tests.
public struct EmptyReducer<State, Action: Sendable>: Reducer, ReducerStep {
  public typealias Body = Never
  public typealias Prepared = CountingReducer<EmptyReducer>

  @inlinable public init() {}

  @inlinable @inline(__always)
  public func reduce(into state: inout State, action: Action) -> Effect<Action> { .none }
}
