/// A change of one field that a form asks for, as an action.
///
///     case binding(BindingAction<State>)
///     …
///     store.send(.binding(.set(\.name, "Ada")))
///
/// A part of a field that is a value is named by its path: `.set(\.filter.text, "a")`. A reducer reacts to one field
/// by a pattern, after the ``BindingReducer``:
///
///     case .binding(\.name): return .send(.nameChanged)
///     case .binding: return .none
///
/// Two are equal if they set the same field to equal values.
public struct BindingAction<State: ObservableState>: Sendable {
  enum Target: Equatable {
    case field(Int)
    case part(PartialKeyPath<State>)
  }

  // Key paths are values, and those of literals capture nothing.
  nonisolated(unsafe) let target: Target
  let value: any Equatable & Sendable
  // A pure function, made of one that the macro made and of a value that is `Sendable`.
  nonisolated(unsafe) let change: (inout State) -> Void

  /// Sets a field of the state.
  public static func set<Value: Equatable & Sendable>(
    _ field: FieldKey<State, Value>, _ value: Value
  ) -> BindingAction {
    let field = State._$fields[keyPath: field]
    return BindingAction(target: .field(field.index), value: value) { state in
      field.modify(&state) { $0 = value }
    }
  }

  /// Sets a part of a field. The field is written as a whole: a child state in it counts as changed throughout.
  @_disfavoredOverload
  public static func set<Value: Equatable & Sendable>(
    _ part: WritableKeyPath<State, Value>, _ value: Value
  ) -> BindingAction {
    BindingAction(target: .part(part), value: value) { $0[keyPath: part] = value }
  }

  /// Whether this sets `field`: to react to it, after the ``BindingReducer``.
  public func sets<Value>(_ field: FieldKey<State, Value>) -> Bool {
    target == .field(State._$fields[keyPath: field].index)
  }

  /// Whether this sets just that part of a field.
  @_disfavoredOverload
  public func sets<Value>(_ part: WritableKeyPath<State, Value>) -> Bool { target == .part(part) }

  /// Lets `case .binding(\.name)` match the actions that set the field.
  public static func ~= <Value>(field: FieldKey<State, Value>, action: BindingAction) -> Bool {
    action.sets(field)
  }

  /// Lets `case .binding(\.filter.text)` match the actions that set the part of a field.
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
  /// The path to what a binding action sets a field to: `\.binding.name`.
  public subscript<State, Leaf: Equatable & Sendable>(
    dynamicMember field: FieldKey<State, Leaf>
  ) -> CasePath<Root, Leaf> where Value == BindingAction<State> {
    CasePath<Root, Leaf>(
      tag: tag, name: "\(name).\(State._$fields[keyPath: field].name)",
      embed: { embed(.set(field, $0)) },
      extract: { root in extract(root).flatMap { $0.sets(field) ? $0.value as? Leaf : nil } })
  }
}

/// Sets the fields that binding actions name.
///
///     var body: some ReducerOf<Self> {
///       BindingReducer(action: \.binding)
///       Reduce { state, action in … }
///     }
public struct BindingReducer<
  State: ObservableState, Action: CasePathable & Sendable, Case: CaseLens
>: ReducerStep
where Case.Root == Action, Case.Value == BindingAction<State> {
  /// - Parameter action: the case of the binding actions.
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
