import Composable
import ComposableTesting

/// A composition of effects as data. A feature makes an effect from this composition, and
/// ``TreeModel`` runs the composition. Times are in nanoseconds.
indirect enum EffectTree: Equatable, Sendable {
  case send(Told)
  case run(Work)
  case cancel(id: Int)
  case merge([EffectTree])
  case concatenate([EffectTree])
  case cancellable(EffectTree, id: Int, cancelInFlight: Bool)
  case debounce(EffectTree, id: Int, pause: Int)
  case throttle(EffectTree, id: Int, interval: Int)
  /// The effect of a child whose reducer the feature calls directly. The composed effect has no
  /// separate scope.
  case composed(EffectTree)
  /// The effect of an element of the composed child.
  case element(Int, EffectTree)

  /// An action that an effect sends.
  struct Told: Equatable, Sendable {
    var token: Int
    /// The effect of the action when it is reduced.
    var reaction: EffectTree?
  }

  /// The work of a task.
  struct Work: Equatable, Sendable {
    enum Outcome: Equatable, Sendable { case sends, fails, handlesError, throwsCancellation }

    var told: Told
    var delay: Int
    var outcome = Outcome.sends
  }

  /// Identifiers of limits are 10 or greater. A throttle with an odd identifier keeps the oldest
  /// effect.
  static func keepsLatest(_ id: Int) -> Bool { id % 2 == 0 }
}

/// The common interface of the features below.
protocol TreeFeature: Sendable {
  associatedtype Action: Sendable
  var clock: TestClock { get }
  static func told(_ told: EffectTree.Told) -> Action
}

extension TreeFeature {
  /// Makes the effect that `tree` describes.
  ///
  /// - Parameter compose: Makes the effect of a child.
  func effect(
    of tree: EffectTree?, compose: (_ element: Int?, EffectTree) -> Effect<Action>
  ) -> Effect<Action> {
    func effects(_ trees: [EffectTree]) -> [Effect<Action>] {
      trees.map { effect(of: $0, compose: compose) }
    }
    func make(_ tree: EffectTree) -> Effect<Action> { effect(of: tree, compose: compose) }
    switch tree {
    case nil: return .none
    case .send(let told): return .send(Self.told(told))
    case .run(let work): return run(work)
    case .cancel(let id): return .cancel(id: id)
    case .merge(let trees): return .merge(effects(trees))
    case .concatenate(let trees): return .concatenate(effects(trees))
    case .cancellable(let tree, let id, let cancelInFlight):
      return make(tree).cancellable(id: id, cancelInFlight: cancelInFlight)
    case .debounce(let tree, let id, let pause):
      return make(tree).debounce(id: id, for: .nanoseconds(pause), clock: clock)
    case .throttle(let tree, let id, let interval):
      return make(tree).throttle(
        id: id, for: .nanoseconds(interval), clock: clock, latest: EffectTree.keepsLatest(id))
    case .composed(let tree): return compose(nil, tree)
    case .element(let element, let tree): return compose(element, tree)
    }
  }

  private func run(_ work: EffectTree.Work) -> Effect<Action> {
    guard work.outcome == .handlesError else { return .run { try await perform(work, $0) } }
    return .run {
      try await perform(work, $0)
    } catch: { _, send in
      send(Self.told(work.told))
    }
  }

  private nonisolated(nonsending) func perform(
    _ work: EffectTree.Work, _ send: Send<Action>
  ) async throws {
    if work.delay > 0 { try await clock.sleep(for: .nanoseconds(work.delay)) }
    switch work.outcome {
    case .sends: send(Self.told(work.told))
    case .fails, .handlesError: throw FuzzedError()
    case .throwsCancellation: throw CancellationError()
    }
  }
}
