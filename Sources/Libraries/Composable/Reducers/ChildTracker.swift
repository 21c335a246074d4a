/// The bookkeeping of a composition about one child: which effects belong to the child.
@usableFromInline
struct ChildTracker<State> {
  @usableFromInline let effects = ChildEffects()
  /// Returns the identity that distinguishes successive children in the same field, or is `nil` if
  /// they are not distinguished.
  @usableFromInline let identify: ((State) -> ChildIdentity)?
  // Checked first, because it is stored next to the reducer: for actions of other children,
  // ``effects`` then need not be loaded.
  @usableFromInline let hasIdentity: Bool

  /// - Parameter hasCases: Whether a different case of an enum state, or a different `id` in the
  ///   same case, counts as another child.
  @usableFromInline
  init(hasCases: Bool) {
    identify = ChildIdentity.function(for: State.self, hasCases: hasCases)
    hasIdentity = identify != nil
  }

  @inlinable
  func identity(of state: State) -> ChildIdentity { identify?(state) ?? .any }

  /// Returns whether the next scope on the path down belongs to this child.
  @inlinable
  func owns(_ scope: EffectScope?) -> Bool { scope?.owner === effects }

  /// Returns whether `scope` was created for the child that now has this state.
  @inlinable
  func isSame(_ scope: EffectScope, _ state: State) -> Bool {
    scope.belongs(to: identity(of: state))
  }

  @inlinable
  func identity<Path: ChildPath>(in parent: Path.Root, _: Path.Type) -> ChildIdentity
  where Path.Child == State {
    Path.read(parent) { $0.map(identity) ?? .any }
  }

  /// Returns whether this child, to which `scope` belongs, and the descendant on the path below
  /// still exist.
  @inlinable
  func hasChild<Path: ChildPath>(
    _ scope: EffectScope, _ child: some PreparedReducer<State>, in parent: Path.Root, _: Path.Type
  ) -> Bool where Path.Child == State {
    Path.read(parent) { $0.map { isSame(scope, $0) && child.hasChild(scope, in: $0) } ?? false }
  }

  /// Returns an effect that ends the effects of a child that was removed or replaced by `present`,
  /// or `.none` if there are none.
  @inlinable
  func ending<Action>(_ key: ScopeKey, unless present: State?) -> Effect<Action> {
    guard let present else { return Effect(operation: .endScope(key, unless: nil)) }
    guard let identify else { return .none }
    return Effect(operation: .endScope(key, unless: identify(present)))
  }
}

extension ChildIdentity {
  /// Returns the function that distinguishes children with the same type of state.
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
