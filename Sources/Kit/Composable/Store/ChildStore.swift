/// A child of a store as its own small store: sends its actions, reads its state, observes it.
///
/// A cheap value that holds the store and two functions: no cache, no subscription, nothing to free.
/// Not `Sendable`, like its store.
public struct ChildStore<State, Action> {
  @usableFromInline let sendAction: (Action) -> Void
  @usableFromInline let read: () -> State?
  public let place: Place<State>

  @usableFromInline
  init(
    sendAction: @escaping (Action) -> Void, read: @escaping () -> State?, place: Place<State>
  ) {
    self.sendAction = sendAction
    self.read = read
    self.place = place
  }

  /// Sends an action of the child.
  @inlinable public func send(_ action: Action) { sendAction(action) }

  /// A copy of the child's state; `nil` if it does not exist.
  @inlinable public var state: State? { read() }
}

extension Store where Action: CasePathable {
  /// The child in a field.
  public func scope<Child: ObservableState, ChildAction>(
    state: FieldKey<State, Child>, action: CaseKey<Action, ChildAction>
  ) -> ChildStore<Child, ChildAction> {
    let field = State._$fields[keyPath: state]
    let embed = Action._$cases[keyPath: action].embed
    return ChildStore(
      sendAction: { self.send(embed($0)) }, read: { field.get(self._state) },
      place: place.child(state))
  }

  /// The child in an optional field.
  public func scope<Child: ObservableState, ChildAction>(
    state: FieldKey<State, Child?>, action: CaseKey<Action, ChildAction>
  ) -> ChildStore<Child, ChildAction> {
    let field = State._$fields[keyPath: state]
    let embed = Action._$cases[keyPath: action].embed
    return ChildStore(
      sendAction: { self.send(embed($0)) }, read: { field.get(self._state) },
      place: place.child(state))
  }
}
