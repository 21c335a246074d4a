/// Changes a feature's state for each action and returns the effects of the action.
///
/// Implement ``reduce(into:action:)``, or ``body-swift.property`` to compose other reducers. A
/// store prepares a reducer once; sending an action does not rebuild the composition.
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
  /// All actions of the feature.
  associatedtype Action: Sendable
  /// The type of the composition; `Never` for a reducer without one.
  associatedtype Body
  /// The form that a store or a parent holds: ``ReducerSteps`` if the reducer has a body, otherwise
  /// ``CountingReducer``. `@Reducer` declares this type, which the compiler does not infer.
  associatedtype Prepared: PreparedReducer
  where Prepared.State == State, Prepared.Action == Action, Prepared.Reaction == Effect<Action>

  /// Changes `state` in place and returns the effects of the action. Runs on the store's lane and
  /// must return quickly. Work that needs much CPU time belongs in an effect. A parent may call
  /// this method directly instead of sending an action to its child.
  func reduce(into state: inout State, action: Action) -> Effect<Action>

  /// The composition. The listed reducers run in sequence. Evaluated once per store.
  @ReducerBuilder<State, Action> var body: Body { get }

  /// Returns the reducer with its composition resolved, for a parent. Called once per store.
  func prepare() -> Prepared

  /// Returns the reducer as one function, for a store. Called once per store.
  func makeSteps() -> ReducerSteps<State, Action>

  /// Returns the number of the kind of `action` in ``kindNames``.
  static func kind(of action: Action) -> Int

  /// The names of the kinds of actions that are counted: the cases of the action.
  static var kindNames: [String] { get }
}

/// A reducer of the same state and actions as the feature.
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
  /// Traps, because a reducer without composition has no body.
  public var body: Never {
    preconditionFailure("\(Self.self) implements reduce(into:action:); it has no body")
  }

  /// Returns the reducer in a form that is called directly.
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
  /// Runs the composition, which is rebuilt on each call. Use it only in tests and for rare calls;
  /// a store builds the composition once.
  @inlinable
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    body.reduce(into: &state, action: action)
  }

  /// Builds the composition. If a feature contains itself, the inner composition is built when its
  /// first action is sent.
  public func prepare() -> ReducerSteps<State, Action> { makeSteps() }

  public func makeSteps() -> ReducerSteps<State, Action> {
    let type = ObjectIdentifier(Self.self)
    guard !Preparation.types.contains(type) else { return lazySteps }
    return Preparation.$types.withValue(Preparation.types.union([type])) { body.makeSteps() }
  }

  /// A reducer whose composition is built when its first action is sent.
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

/// The features whose compositions are being built. A feature that is in the set contains itself.
private enum Preparation {
  @TaskLocal static var types: Set<ObjectIdentifier> = []
}

/// The composition of a feature that contains itself.
private final class LazySteps<Feature: Reducer> {
  private let feature: Feature
  private(set) lazy var steps = Preparation.$types.withValue([]) { feature.makeSteps() }

  init(_ feature: Feature) { self.feature = feature }
}
