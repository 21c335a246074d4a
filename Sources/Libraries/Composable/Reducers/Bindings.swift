/// An action of a form that sets one field.
///
///     case binding(BindingAction<State>)
///     …
///     store.send(.binding(.set(\.name, "Ada")))
///
/// To set only a part of a field, use the path of the part: `.set(\.filter.text, "a")`. To react to
/// a field, match the action by a pattern in a reducer that follows the ``BindingReducer``:
///
///     case .binding(\.name): return .send(.nameChanged)
///     case .binding: return .none
///
/// Two actions are equal if they set the same field to equal values.
public struct BindingAction<State: ObservableState>: Sendable {
  enum Target: Equatable {
    case field(Int)
    case part(PartialKeyPath<State>)
  }

  // Key paths are immutable, and key path literals without subscripts capture nothing.
  nonisolated(unsafe) let target: Target
  let value: any Equatable & Sendable
  // A pure function that captures only a generated function and a `Sendable` value.
  nonisolated(unsafe) let change: (inout State) -> Void

  /// Returns an action that sets a field of the state.
  public static func set<Value: Equatable & Sendable>(
    _ field: FieldKey<State, Value>, _ value: Value
  ) -> BindingAction {
    let field = State._$fields[keyPath: field]
    return BindingAction(target: .field(field.index), value: value) { state in
      field.modify(&state) { $0 = value }
    }
  }

  /// Returns an action that sets a part of a field. The whole field is written, so a child state in
  /// the field counts as replaced.
  @_disfavoredOverload
  public static func set<Value: Equatable & Sendable>(
    _ part: WritableKeyPath<State, Value>, _ value: Value
  ) -> BindingAction {
    BindingAction(target: .part(part), value: value) { $0[keyPath: part] = value }
  }

  /// Returns whether the action sets `field`, for reducers after the ``BindingReducer``.
  public func sets<Value>(_ field: FieldKey<State, Value>) -> Bool {
    target == .field(State._$fields[keyPath: field].index)
  }

  /// Returns whether the action sets exactly this part of a field.
  @_disfavoredOverload
  public func sets<Value>(_ part: WritableKeyPath<State, Value>) -> Bool { target == .part(part) }

  /// Makes `case .binding(\.name)` match actions that set the field.
  public static func ~= <Value>(field: FieldKey<State, Value>, action: BindingAction) -> Bool {
    action.sets(field)
  }

  /// Makes `case .binding(\.filter.text)` match actions that set this part of a field.
  @_disfavoredOverload
  public static func ~= <Value>(
    part: WritableKeyPath<State, Value>, action: BindingAction
  ) -> Bool { action.sets(part) }
}

extension BindingAction: Equatable {
  public static func == (left: BindingAction, right: BindingAction) -> Bool {
    func isEqual<Value: Equatable>(_ value: Value) -> Bool { value == right.value as? Value }
    return left.target == right.target && isEqual(left.value)
  }
}

extension BindingAction: CustomStringConvertible {
  public var description: String {
    switch target {
    case .field(let index): ".set(\\.\(State._$fieldNames[index]), \(value))"
    case .part(let path): ".set(\(path), \(value))"
    }
  }
}

extension CasePath {
  /// Appends the value that a binding action assigns to a field: `\.binding.name`.
  public subscript<State, Leaf: Equatable & Sendable>(
    dynamicMember field: FieldKey<State, Leaf>
  ) -> CasePath<Root, Leaf> where Value == BindingAction<State> {
    CasePath<Root, Leaf>(
      tag: tag, name: "\(name).\(State._$fields[keyPath: field].name)",
      embed: { embed(.set(field, $0)) },
      extract: { root in extract(root).flatMap { $0.sets(field) ? $0.value as? Leaf : nil } })
  }
}

/// Applies binding actions: sets the fields that they name.
///
///     var body: some ReducerOf<Self> {
///       BindingReducer(action: \.binding)
///       Reduce { state, action in … }
///     }
public struct BindingReducer<
  State: ObservableState, Action: CasePathable & Sendable, Case: CaseLens
>: ReducerStep
where Case.Root == Action, Case.Value == BindingAction<State> {
  /// Makes a reducer for the binding actions of the case `action`.
  @inlinable
  public init(action: KeyPath<Action.CaseLenses, Case>) {}

  @inlinable
  public func reduce(into state: inout State, action: Action) -> Effect<Action> {
    if let binding = Case.extract(action) { binding.apply(to: &state) }
    return .none
  }
}

extension BindingAction {
  @usableFromInline
  func apply(to state: inout State) { change(&state) }
}
