public import Composable

extension TestStore {
  @available(
    *, unavailable,
    message:
      "pass the dependencies to the feature: 'Feature(dependencies: .test(clock: clock).overriding(client))'"
  )
  public convenience init<R: Reducer>(
    initialState: State, reducer: () -> R, withDependencies: (inout DependencyValues) -> Void
  ) where R.State == State, R.Action == Action { unavailable() }
}
