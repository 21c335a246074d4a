/// What a node of a composition knows about its child: which effects belong to it.
@usableFromInline
struct ChildTracker<State> {
  @usableFromInline let effects = ChildEffects()
  /// Tells a child from another one in the same field; `nil` if all are the same.
  @usableFromInline let identify: ((State) -> ChildIdentity)?
  // Asked first, for other children's actions: a flag beside the reducer costs no look at the effects.
  @usableFromInline let hasIdentity: Bool

  /// - Parameter hasCases: whether a state that is an enum is another child in another case.
  @usableFromInline
  init(hasCases: Bool) {
    identify = ChildIdentity.function(for: State.self, hasCases: hasCases)
    hasIdentity = identify != nil
  }

  @inlinable
  func identity(of state: State) -> ChildIdentity { identify?(state) ?? .any }

  /// Whether the next scope on the way down is one of this child's.
  @inlinable
  func owns(_ scope: EffectScope?) -> Bool { scope?.owner === effects }

  /// Whether `scope`, which is this child's, belongs to the one whose state this is.
  @inlinable
  func isSame(_ scope: EffectScope, _ state: State) -> Bool {
    scope.belongs(to: identity(of: state))
  }

  /// What ends the effects of a child that is gone or is another one; none if there is nothing to end.
  ///
  /// - Parameter present: the state of the child that is there.
  @inlinable
  func ending<Action>(_ key: ScopeKey, unless present: State?) -> Effect<Action> {
    guard let present else { return Effect(operation: .endScope(key, unless: nil)) }
    guard let identify else { return .none }
    return Effect(operation: .endScope(key, unless: identify(present)))
  }
}

extension ChildIdentity {
  /// How the children of one type of state are told apart.
  @usableFromInline
  static func function<State>(
    for type: State.Type, hasCases: Bool
  ) -> ((State) -> ChildIdentity)? {
    if let type = type as? any Identifiable.Type { return byID(type) }
    if hasCases, let type = type as? any CasePathable.Type { return byCase(type) }
    return nil
  }

  private static func byID<State, I: Identifiable>(_: I.Type) -> (State) -> ChildIdentity {
    { state in (state as? I).map { .id(AnyHashable($0.id)) } ?? .any }
  }

  private static func byCase<State, E: CasePathable>(_: E.Type) -> (State) -> ChildIdentity {
    { state in (state as? E).map { .id(AnyHashable($0._$tag)) } ?? .any }
  }
}
