/// A change of one field that a form asks for, as an action.
///
///     case binding(BindingAction<State>)
///     …
///     store.send(.binding(.set(\.name, "Ada")))
///
/// Two are equal if they set the same field to equal values.
public struct BindingAction<State: ObservableState>: Sendable {
  let field: Int
  let value: any Equatable & Sendable
  // A pure function, made of one that the macro made and of a value that is `Sendable`.
  nonisolated(unsafe) let change: (inout State) -> Void

  /// Sets a field of the state.
  public static func set<Value: Equatable & Sendable>(
    _ field: FieldKey<State, Value>, _ value: Value
  ) -> BindingAction {
    let field = State._$fields[keyPath: field]
    return BindingAction(field: field.index, value: value) { state in
      field.modify(&state) { $0 = value }
    }
  }

  /// Whether this sets `field`: to react to it, behind the ``BindingReducer``.
  public func sets<Value>(_ field: FieldKey<State, Value>) -> Bool {
    self.field == State._$fields[keyPath: field].index
  }
}

extension BindingAction: Equatable {
  public static func == (left: BindingAction, right: BindingAction) -> Bool {
    func isEqual<Value: Equatable>(_ value: Value) -> Bool { value == right.value as? Value }
    return left.field == right.field && isEqual(left.value)
  }
}

extension BindingAction: CustomStringConvertible {
  public var description: String { ".set(\\.\(State._$fieldNames[field]), \(value))" }
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
