/// The actions of a feature that shares a value; see ``ReducerStep/sharing(_:with:action:)``.
public enum SharedAction<Value: Equatable & Sendable>: Equatable, Sendable {
  /// Reads the current value and starts listening to changes, until ``leave`` or until the feature
  /// is removed. Sent by the code that starts the feature.
  case join
  /// Stops listening.
  case leave
  /// The value was changed, by this feature or by another one. The field has the newest value,
  /// which may be newer than the value of the action.
  case changed(Value, version: UInt64)
}

// Written by hand, because other modules cannot inline what the macro generates.
extension SharedAction: CasePathable {
  /// The paths of the cases.
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

  /// Updates the field, runs `body`, and shares what `body` wrote to the field.
  @usableFromInline
  func share(
    _ state: inout State, _ body: (inout State) -> Effect<Action>
  ) -> Effect<Action> {
    let first = shared.core.newest
    assign(first.value, &state)
    let wasRecorded = Lens.removeChangeRecord(&state)
    let (effect, base) = SharedTurn.run(shared.core, first) { body(&state) }
    // The change record reveals a write even if it restores the previous value.
    let isWritten = Lens.removeChangeRecord(&state)
    if wasRecorded || isWritten { Lens.restoreChangeRecord(&state) }
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
      // Starts listening before the field is updated, so that no change in between is missed.
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
  /// Before each action of the feature, the field gets the newest value, whether the feature has
  /// joined or not. After the action, the value that the reducer left in the field is shared. If
  /// code on another lane changes the value in between, both changes are merged
  /// (``Shared/init(_:merge:)``). For a change that depends on the current value, such as `+= 1`,
  /// use ``Shared/change(_:_:)``.
  ///
  /// A feature that has joined (``SharedAction/join``) also gets an action for each change,
  /// ``SharedAction/changed(_:version:)``. The reducer to which this modifier is applied sees the
  /// action after the field was updated.
  ///
  /// Use this modifier for small values: the field is compared after each action of the feature.
  @inlinable
  public func sharing<Lens: FieldLens, Case: CaseLens, Value: Equatable & Sendable>(
    _ field: KeyPath<State.Lenses, Lens>, with shared: Shared<Value>,
    action: KeyPath<Action.CaseLenses, Case>
  ) -> Sharing<State, Action, Self, Lens, Case, Value>
  where State: ObservableState, Action: CasePathable {
    Sharing(self, shared)
  }
}
