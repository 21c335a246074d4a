extension ReducerStep {
  /// The end of a step with a child that comes and goes: the parent runs after the child, and if the
  /// child is gone then, its effects end.
  ///
  /// - Parameters:
  ///   - childEffect: what the child's reducer returned.
  ///   - tag: the case of the child's actions.
  ///   - wasPresent: whether the child was there before the action.
  ///   - isPresent: whether it is there when the parent has run.
  @inlinable @inline(__always)
  func reduce(
    into state: inout State, action: Action, after childEffect: Effect<Action>, of tag: Int,
    wasPresent: Bool, isPresent: (inout State) -> Bool
  ) -> Effect<Action> {
    let effect = childEffect.followed(by: reduce(into: &state, action: action))
    guard wasPresent, !isPresent(&state) else { return effect }
    return effect.followed(by: .endScope(ScopeKey(tag: tag)))
  }
}
