/// Counts how often a computed scope was evaluated.
public struct ComputedScopeCount: Hashable, Sendable {
  /// The name that the scope was given.
  public let name: String
  /// Evaluations so far.
  public let evaluations: Int
}

/// A part of a state that is computed at each look instead of stored.
///
/// It is recomputed each time it is read, the more costly the closer to the root. What is
/// shown should be a stored field, or be derived in the view at the leaf.
public struct ComputedScope<State> {
  let evaluate: () -> State

  /// The value, computed now.
  public var state: State { evaluate() }
}

extension Store {
  /// A part of the state that `compute` derives from it.
  ///
  /// Evaluations are counted by name (``computedScopeCounts``); when they exceed `allowance` per action the
  /// store warns once, naming the scope, through ``onWarning``.
  public func scope<Value>(
    computed name: String, allowance: Int = 10, _ compute: @escaping (State) -> Value
  ) -> ComputedScope<Value> {
    let count = scopeCount(named: name)
    return ComputedScope { [unowned self] in
      count.evaluations += 1
      if !count.isReported, count.evaluations > allowance * max(1, Int(actionCount)) {
        count.isReported = true
        onWarning?(
          """
          The computed scope '\(name)' was evaluated \(count.evaluations) times for \(actionCount) \
          actions: store the value, or derive it in the view that shows it.
          """)
      }
      return compute(_state)
    }
  }

  /// The count of a scope; the same one for all scopes of one name, however often they are made.
  private func scopeCount(named name: String) -> ScopeCount {
    if let count = computedScopes.first(where: { $0.name == name }) { return count }
    let count = ScopeCount(name: name)
    computedScopes.append(count)
    return count
  }

  /// How often each computed scope was evaluated, in the order in which they were made.
  public var computedScopeCounts: [ComputedScopeCount] {
    computedScopes.map { ComputedScopeCount(name: $0.name, evaluations: $0.evaluations) }
  }
}

/// The count of one computed scope.
@usableFromInline
final class ScopeCount {
  let name: String
  var evaluations = 0
  var isReported = false

  init(name: String) { self.name = name }
}
