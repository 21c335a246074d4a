/// How a feature's state follows from its actions, and which effects an action has.
///
/// Implement either ``reduce(into:action:)`` or, to compose others, ``body-swift.property``. A
/// store prepares a reducer once; nothing of the composition is made again while actions are sent.
///
///     @Reducer
///     struct Room {
///       @ObservableState struct State { var title = ""; var chat = Chat.State() }
///       enum Action { case titled(String); case chat(Chat.Action) }
///
///       var body: some ReducerOf<Self> {
///         Scope(state: \.chat, action: \.chat) { Chat() }
///         Reduce { state, action in
///           if case .titled(let title) = action { state.title = title }
///           return .none
///         }
///       }
///     }
public protocol Reducer<State, Action> {
  /// The feature's state.
  associatedtype State
  /// Everything that can happen to it.
  associatedtype Action: Sendable
  /// The composition; `Never` for a reducer without one.
  associatedtype Body
  /// What a store or a parent holds: ``ReducerSteps`` if the reducer has a body, otherwise
  /// ``CountingReducer``. Declared by the macro `@Reducer`, since the compiler does not infer it.
  associatedtype Prepared: PreparedReducer
  where Prepared.State == State, Prepared.Action == Action, Prepared.Reaction == Effect<Action>

  /// Changes `state` in place and returns what is to be done besides.
  ///
  /// Runs on the store's lane and must return soon: work that is heavy on the CPU belongs in an
  /// effect. A parent that needs this logic may call it directly instead of sending an action.
  func reduce(into state: inout State, action: Action) -> Effect<Action>

  /// The composition: the reducers listed run one after the other. Made once per store.
  @ReducerBuilder<State, Action> var body: Body { get }

  /// The reducer with its composition resolved, for a parent. Called once per store.
  func prepare() -> Prepared

  /// The reducer as one function, for a store. Called once per store.
  func makeSteps() -> ReducerSteps<State, Action>

  /// Number of the kind of `action` in ``kindNames``.
  static func kind(of action: Action) -> Int

  /// Names of the kinds of actions that are counted; the cases of the action.
  static var kindNames: [String] { get }
}

/// The reducer of a feature's own state and action.
public typealias ReducerOf<R: Reducer> = Reducer<R.State, R.Action>

extension Reducer {
  @inlinable public static func kind(of action: Action) -> Int { 0 }
  @inlinable public static var kindNames: [String] { [] }
}

extension Reducer where Action: CasePathable {
  @inlinable public static func kind(of action: Action) -> Int { action._$tag }
  @inlinable public static var kindNames: [String] { Action._$caseNames }
}

extension Reducer where Body == Never {
  /// A reducer without composition has no body.
  public var body: Never {
    preconditionFailure("\(Self.self) implements reduce(into:action:); it has no body")
  }

  /// A reducer without composition is called directly.
  @inlinable public func prepare() -> CountingReducer<Self> { CountingReducer(self) }

  @inlinable
  public func makeSteps() -> ReducerSteps<State, Action> {
    let prepared = CountingReducer(self)
    return ReducerSteps(prepared.counter, []) { state, action in
      prepared.reduce(into: &state, action: action)
    }
  }
}

extension Reducer where Body: Reducer, Body.State == State, Body.Action == Action {
  /// Runs the composition. Builds it again on each call: for tests and rare calls; a store builds
  /// it once.
  @inlinable
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    body.reduce(into: &state, action: action)
  }

  /// A composition is put together here, once; that of a feature inside itself when its first
  /// action comes.
  public func prepare() -> ReducerSteps<State, Action> { makeSteps() }

  public func makeSteps() -> ReducerSteps<State, Action> {
    let type = ObjectIdentifier(Self.self)
    guard !Preparation.types.contains(type) else { return lazySteps }
    return Preparation.$types.withValue(Preparation.types.union([type])) { body.makeSteps() }
  }

  /// Reduces like this reducer, whose composition is put together when the first action comes.
  private var lazySteps: ReducerSteps<State, Action> {
    let counter = ActionCounter(names: Self.kindNames)
    let lazy = LazySteps(self)
    return ReducerSteps(
      counter, [], hasChild: { state, scope in lazy.steps.hasChild(scope, in: state) }
    ) { state, action in
      counter.count(Self.kind(of: action))
      return lazy.steps.reduce(into: &state, action: action)
    }
  }
}

/// The features whose compositions are being put together: one that is among them contains itself.
private enum Preparation {
  @TaskLocal static var types: Set<ObjectIdentifier> = []
}

/// The composition of a feature that contains itself.
private final class LazySteps<Feature: Reducer> {
  private let feature: Feature
  private(set) lazy var steps = Preparation.$types.withValue([]) { feature.makeSteps() }

  init(_ feature: Feature) { self.feature = feature }
}
