/// What a node of a composition knows about its child: which effects belong to the child.
@usableFromInline
struct ChildTracker<State> {
  @usableFromInline let effects = ChildEffects()
  /// Distinguishes a child from another in the same field; `nil` if all are the same.
  @usableFromInline let identify: ((State) -> ChildIdentity)?
  // Checked first for other children's actions: with a flag next to the reducer, the effects need
  // not be looked at.
  @usableFromInline let hasIdentity: Bool

  /// - Parameter hasCases: whether another case of an enum state, or an `id` within it, is another child.
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

  /// Which child is there.
  @inlinable
  func identity<Path: ChildPath>(in parent: Path.Root, _: Path.Type) -> ChildIdentity
  where Path.Child == State {
    Path.read(parent) { $0.map(identity) ?? .any }
  }

  /// Whether the child below `scope`, which is this child's, is there.
  @inlinable
  func hasChild<Path: ChildPath>(
    _ scope: EffectScope, _ child: some PreparedReducer<State>, in parent: Path.Root, _: Path.Type
  ) -> Bool where Path.Child == State {
    Path.read(parent) { $0.map { isSame(scope, $0) && child.hasChild(scope, in: $0) } ?? false }
  }

  /// Returns an effect that ends those of a child that is gone or was replaced; `.none` if there
  /// are none.
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
  /// How children with the same type of state are distinguished.
  @usableFromInline
  static func function<State>(
    for type: State.Type, hasCases: Bool
  ) -> ((State) -> ChildIdentity)? {
    if hasCases, let type = type as? any CasePathable.Type { return byCase(type) }
    if let type = type as? any Identifiable.Type { return byID(type) }
    return nil
  }

  private static func byID<State, I: Identifiable>(_: I.Type) -> (State) -> ChildIdentity {
    { state in (state as? I).map { .id(AnyHashable($0.id)) } ?? .any }
  }

  private static func byCase<State, E: CasePathable>(_: E.Type) -> (State) -> ChildIdentity {
    let hasID = E.self is any Identifiable.Type
    return { state in
      guard let state = state as? E else { return .any }
      let id = hasID ? (state as? any Identifiable).map { ownID(of: $0) } : state._$payloadID
      return .id(id, tag: Int32(truncatingIfNeeded: state._$tag))
    }
  }

  private static func ownID(of state: some Identifiable) -> AnyHashable { AnyHashable(state.id) }
}
