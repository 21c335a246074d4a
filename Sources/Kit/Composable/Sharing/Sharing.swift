/// What a feature that shares a value does and hears; see ``ReducerStep/sharing(_:with:action:)``.
public enum SharedAction<Value: Equatable & Sendable>: Equatable, Sendable {
  /// Takes the present value, and listens to changes from then on, until ``leave`` or until the feature
  /// goes. Sent by whoever starts the feature.
  case join
  /// Listens no longer.
  case leave
  /// The value was changed, by this feature or by another one.
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
    let effect = Case.extract(action).map { hear($0, &state) } ?? .none
    let old = Lens.read(state) { $0 }
    let (following, turn) = SharedTurn.run { base.reduce(into: &state, action: action) }
    let new = Lens.read(state) { $0 }
    if old != new { turn.share(new, in: shared) }
    return effect.followed(by: following)
  }

  @usableFromInline
  func hear(_ action: SharedAction<Value>, _ state: inout State) -> Effect<Action> {
    let listening = Listening(shared: ObjectIdentifier(shared))
    switch action {
    case .join:
      let (newest, changes) = shared.listen()
      assign(newest.value, &state)
      return Effect<SharedAction<Value>>.run(name: "Shared", sequence: changes) {
        .changed($0.value, version: $0.number)
      }
      .cancellable(id: listening, cancelInFlight: true)
      .map(Case.embed)
    case .leave: return .cancel(id: listening)
    case .changed(let value, let version):
      // An older one was overtaken: the newest is on its way here.
      if version >= shared.newest.number { assign(value, &state) }
      return .none
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
  /// What the reducer changes in the field is shared at the end of the action. What others change arrives as
  /// the action ``SharedAction/changed(_:version:)`` once the feature has joined
  /// (``SharedAction/join``); the reducer that this is called on sees it after the field has its value.
  /// A reducer that counts on the present value, which another thread may be changing, assigns the result
  /// of ``Shared/change(_:)``: of two plain assignments at the same time the last one stays.
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
