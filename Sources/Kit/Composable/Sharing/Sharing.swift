/// What a feature that shares a value does and hears; see ``ReducerStep/sharing(_:with:action:)``.
public enum SharedAction<Value: Equatable & Sendable>: Equatable, Sendable {
  /// Takes the present value, and listens to changes from then on, until ``leave`` or until the feature
  /// goes. Sent by whoever starts the feature.
  case join
  /// Listens no longer.
  case leave
  /// The value was changed, by this feature or by another one. The field has the newest value, which may be
  /// a later one.
  case changed(Value, version: UInt64)
}

// Written out: what the macro makes could not be seen through by users in other modules.
extension SharedAction: CasePathable {
  /// Descriptors of the cases.
  public struct Cases: Sendable {
    /// The case ``SharedAction/join``.
    public var join: CasePath<SharedAction, Void> {
      CasePath(tag: 0, name: "join", embed: { .join }) { $0 == .join ? () : nil }
    }

    /// The case ``SharedAction/leave``.
    public var leave: CasePath<SharedAction, Void> {
      CasePath(tag: 1, name: "leave", embed: { .leave }) { $0 == .leave ? () : nil }
    }

    /// The case ``SharedAction/changed(_:version:)``.
    public var changed: CasePath<SharedAction, (Value, version: UInt64)> {
      CasePath(tag: 2, name: "changed", embed: { .changed($0.0, version: $0.version) }) { action in
        if case .changed(let value, let version) = action { (value, version) } else { nil }
      }
    }
  }

  public struct CaseLenses: Sendable {}
  public static var _$cases: Cases { Cases() }
  public static var _$caseNames: [String] { ["join", "leave", "changed"] }

  @inlinable
  public var _$tag: Int {
    switch self {
    case .join: 0
    case .leave: 1
    case .changed: 2
    }
  }
}

/// A reducer that shares a field. Made by ``ReducerStep/sharing(_:with:action:)``.
public struct Sharing<
  State: ObservableState, Action: CasePathable & Sendable,
  Base: ReducerStep<State, Action>, Lens: FieldLens, Case: CaseLens, Value: Equatable & Sendable
>: ReducerStep
where
  Lens.Root == State, Lens.Value == Value, Case.Root == Action, Case.Value == SharedAction<Value>
{
  @usableFromInline let base: Base
  @usableFromInline let shared: Shared<Value>

  @inlinable
  init(_ base: Base, _ shared: Shared<Value>) {
    self.base = base
    self.shared = shared
  }

  @inlinable
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    let hearing = Case.extract(action).map(hear) ?? .none
    return hearing.followed(by: share(&state) { base.reduce(into: &$0, action: action) })
  }

  /// Brings the field up to date, runs `body`, and shares what that wrote into the field.
  @usableFromInline
  func share(
    _ state: inout State, _ body: (inout State) -> Effect<Action>
  ) -> Effect<Action> {
    let first = shared.core.newest
    assign(first.value, &state)
    let wasNoted = Lens.takeNote(&state)
    let (effect, base) = SharedTurn.run(shared.core, first) { body(&state) }
    // A write shows by its note even if it restores the value that was there before.
    let isWritten = Lens.takeNote(&state)
    if wasNoted || isWritten { Lens.restoreNote(&state) }
    let own = Lens.read(state) { $0 }
    let isChanged = isWritten || own != first.value
    assign((isChanged ? shared.core.commit(own, since: base) : shared.core.newest).value, &state)
    return effect
  }

  @usableFromInline
  func hear(_ action: SharedAction<Value>) -> Effect<Action> {
    let listening = Listening(shared: ObjectIdentifier(shared.core))
    switch action {
    case .join:
      // Begun before the field gets its value: no change falls in between.
      let (_, changes) = shared.core.listen()
      return Effect<SharedAction<Value>>.run(name: "Shared", sequence: changes) {
        .changed($0.value, version: $0.number)
      }
      .cancellable(id: listening, cancelInFlight: true)
      .map(Case.embed)
    case .leave: return .cancel(id: listening)
    case .changed: return .none
    }
  }

  private func assign(_ value: Value, _ state: inout State) {
    guard !Lens.read(state, { $0 == value }) else { return }
    Lens.modify(&state) { $0 = value }
  }

  @inlinable
  public func hasChild(_ scope: EffectScope, in state: State) -> Bool {
    base.hasChild(scope, in: state)
  }

  @inlinable public var childCounters: [ChildCounter] { base.childCounters }
}

/// The identifier of the effect that listens.
private struct Listening: Hashable, Sendable {
  let shared: ObjectIdentifier
}

extension ReducerStep {
  /// Keeps a field equal to a shared value.
  ///
  ///     var settings = Settings()
  ///     …
  ///     case settings(SharedAction<Settings>)
  ///     …
  ///     Reduce { … }.sharing(\.settings, with: settings, action: \.settings)
  ///
  /// Before each action of the feature the field gets the newest value, whether the feature has joined or
  /// not. What the reducer leaves in the field is shared at the end of the action. If somebody on another
  /// lane changes the value in between, both changes are merged (``Shared/init(_:merge:)``). A change that
  /// counts on the present value even then, as `+= 1` does, goes through ``Shared/change(_:_:)``.
  ///
  /// A feature that has joined (``SharedAction/join``) also gets an action for each change,
  /// ``SharedAction/changed(_:version:)``. The reducer that this is called on sees it after the field has its
  /// value.
  ///
  /// For values that are small: the field is compared after each action of this feature.
  @inlinable
  public func sharing<Lens: FieldLens, Case: CaseLens, Value: Equatable & Sendable>(
    _ field: KeyPath<State.Lenses, Lens>, with shared: Shared<Value>,
    action: KeyPath<Action.CaseLenses, Case>
  ) -> Sharing<State, Action, Self, Lens, Case, Value>
  where State: ObservableState, Action: CasePathable {
    Sharing(self, shared)
  }
}
