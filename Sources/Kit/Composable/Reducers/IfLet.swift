extension ReducerStep {
  /// Adds a child that exists only while an optional field is not `nil`.
  ///
  ///     var player: Player.State?
  ///     …
  ///     case player(Player.Action)
  ///     …
  ///     Reduce { … }.ifLet(\.player, action: \.player) { Player() }
  ///
  /// The child runs before its parent, so that an action by which the parent removes the child still
  /// reaches it. The child's effects are cancelled when the field becomes `nil`, and when it gets
  /// another child: a state with another `id`, or an enum with another case or another `id` of what that
  /// carries. An action for a child that is not there is dropped and counted (``Store/actionsWithoutChild``).
  @inlinable
  public func ifLet<Lens: FieldLens, Case: CaseLens, Child: Reducer>(
    _ state: KeyPath<State.Lenses, Lens>, action: KeyPath<Action.CaseLenses, Case>,
    child: () -> Child
  ) -> OptionalChild<State, Action, Self, OptionalField<Lens, Child.State>, Case, Child>
  where State: ObservableState, Action: CasePathable {
    OptionalChild(self, child())
  }
}

extension FieldLens {
  /// Whether an optional field holds something. Looks, and copies nothing.
  @inlinable
  static func isPresent<Wrapped>(_ root: Root) -> Bool where Value == Wrapped? {
    read(root) { value in
      switch value {
      case .none: false
      case .some: true
      }
    }
  }
}
