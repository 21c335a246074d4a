extension ReducerStep {
  /// Adds the child of one case of an enum field, which is mutated in place.
  ///
  ///     @ObservableState enum Phase { case waiting; case live(Show.State) }
  ///     …
  ///     var phase: Phase = .waiting
  ///     …
  ///     Reduce { … }.ifCaseLet(\.phase, case: \.live, action: \.show) { Show() }
  ///
  /// The child runs before its parent. The child's effects are cancelled when the field changes to
  /// another case, and when the same case gets a state with another `id`.
  @inlinable
  public func ifCaseLet<
    Lens: FieldLens, Phase: MutableCaseLens, Case: CaseLens, Child: Reducer
  >(
    _ state: KeyPath<State.Lenses, Lens>, case phase: KeyPath<Lens.Value.CaseLenses, Phase>,
    action: KeyPath<Action.CaseLenses, Case>, child: () -> Child
  ) -> OptionalChild<State, Action, Self, CaseOfField<Lens, Phase>, Case, Child>
  where State: ObservableState, Action: CasePathable, Lens.Value: CasePathable {
    OptionalChild(self, child())
  }

  /// Adds the child of one case of a state that is itself an enum.
  ///
  ///     @ObservableState enum State { case signedOut(Login.State); case signedIn(Home.State) }
  ///     …
  ///     Reduce { … }
  ///       .ifCaseLet(\.signedOut, action: \.signedOut) { Login() }
  ///       .ifCaseLet(\.signedIn, action: \.signedIn) { Home() }
  @inlinable
  public func ifCaseLet<Phase: MutableCaseLens, Case: CaseLens, Child: Reducer>(
    _ state: KeyPath<State.CaseLenses, Phase>, action: KeyPath<Action.CaseLenses, Case>,
    child: () -> Child
  ) -> OptionalChild<State, Action, Self, CaseOfState<Phase>, Case, Child>
  where State: ObservableState & CasePathable, Action: CasePathable {
    OptionalChild(self, child())
  }
}
