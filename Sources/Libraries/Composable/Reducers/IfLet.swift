extension ReducerStep {
  /// Adds a child that exists only while an optional field is not `nil`.
  ///
  ///     var player: Player.State?
  ///     …
  ///     case player(Player.Action)
  ///     …
  ///     Reduce { … }.ifLet(\.player, action: \.player) { Player() }
  ///
  /// The child runs before its parent, so an action for which the parent removes the child still
  /// reaches the child. The child's effects are cancelled when the field becomes `nil` or gets
  /// another child. A state counts as another child if its `id` differs or, for an enum, if its
  /// case or the `id` of its payload differs. An action for an absent child is dropped and counted
  /// (``Store/actionsWithoutChild``).
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
  /// Returns whether an optional field has a value, without a copy.
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
