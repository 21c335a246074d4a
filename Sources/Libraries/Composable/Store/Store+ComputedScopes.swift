/// The number of evaluations of a computed scope.
public struct ComputedScopeCount: Hashable, Sendable {
  /// The name of the scope.
  public let name: String
  /// The number of evaluations so far.
  public let evaluations: Int
}

/// A part of a state that is computed on each access instead of being stored.
///
/// The closer a scope is to the root, the more often it is evaluated. Either store a displayed
/// value in a field of the state, or compute it in the leaf view that shows it.
public struct ComputedScope<State> {
  let evaluate: () -> State

  /// The value, computed on each access.
  public var state: State { evaluate() }
}

extension Store {
  /// Returns a scope that `compute` derives from the state.
  ///
  /// Evaluations are counted by name (``computedScopeCounts``). If evaluations exceed `allowance`
  /// per action, the store warns once through ``onWarning`` and names the scope.
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

  /// Returns the count of a scope. All scopes with the same name share one count.
  private func scopeCount(named name: String) -> ScopeCount {
    if let count = computedScopes.first(where: { $0.name == name }) { return count }
    let count = ScopeCount(name: name)
    computedScopes.append(count)
    return count
  }

  /// The number of evaluations of each computed scope, in the order in which the scopes were made.
  public var computedScopeCounts: [ComputedScopeCount] {
    computedScopes.map { ComputedScopeCount(name: $0.name, evaluations: $0.evaluations) }
  }
}

@usableFromInline
final class ScopeCount {
  let name: String
  var evaluations = 0
  var isReported = false

  init(name: String) { self.name = name }
}
