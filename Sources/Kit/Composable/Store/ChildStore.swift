/// A child of a store as its own small store: sends its actions, reads its state, observes it.
///
/// A cheap value that holds the store and two functions: no cache, no subscription, nothing to free.
/// Not `Sendable`, like its store.
public struct ChildStore<State, Action> {
  // Takes an address: a closure over a value of generic type is called through an adapter.
  @usableFromInline let sendAction: (UnsafePointer<Action>) -> Void
  @usableFromInline let read: () -> State?
  /// Where observers of the child hang.
  public let place: Place<State>

  @usableFromInline
  init(
    sendAction: @escaping (UnsafePointer<Action>) -> Void, read: @escaping () -> State?,
    place: Place<State>
  ) {
    self.sendAction = sendAction
    self.read = read
    self.place = place
  }

  /// Sends an action of the child.
  @inlinable
  public func send(_ action: Action) { withUnsafePointer(to: action) { sendAction($0) } }

  /// A copy of the child's state; `nil` if it does not exist.
  @inlinable public var state: State? { read() }
}

extension Store where Action: CasePathable {
  /// The child in a field.
  @inlinable
  public func scope<Lens: FieldLens, Case: CaseLens>(
    state: KeyPath<State.Lenses, Lens>, action: KeyPath<Action.CaseLenses, Case>
  ) -> ChildStore<Lens.Value, Case.Value>
  where Lens.Root == State, Case.Root == Action, Lens.Value: ObservableState {
    ChildStore(
      sendAction: { self.send(Case.embed($0.pointee)) },
      read: { Lens.read(self._state) { $0 } }, place: childPlace(Lens.index))
  }

  /// The child in an optional field.
  @inlinable
  public func scope<Lens: FieldLens, Case: CaseLens, Child: ObservableState>(
    state: KeyPath<State.Lenses, Lens>, action: KeyPath<Action.CaseLenses, Case>
  ) -> ChildStore<Child, Case.Value>
  where Lens.Root == State, Case.Root == Action, Lens.Value == Child? {
    ChildStore(
      sendAction: { self.send(Case.embed($0.pointee)) },
      read: { Lens.read(self._state) { $0 } }, place: childPlace(Lens.index))
  }

  /// The child that is presented in an optional field.
  @inlinable
  public func scope<Lens: FieldLens, Case: CaseLens, Child: ObservableState, ChildAction>(
    state: KeyPath<State.Lenses, Lens>, action: KeyPath<Action.CaseLenses, Case>
  ) -> ChildStore<Child, ChildAction>
  where
    Lens.Root == State, Case.Root == Action, Lens.Value == Child?,
    Case.Value == PresentationAction<ChildAction>
  {
    ChildStore(
      sendAction: { self.send(Case.embed(.presented($0.pointee))) },
      read: { Lens.read(self._state) { $0 } }, place: childPlace(Lens.index))
  }

  /// The element of a collection with the given key; `nil` if there is none.
  ///
  /// The handle stays with that element: after its removal its state is `nil` and its actions are
  /// dropped, even if an element with the same key comes.
  @inlinable
  public func scope<
    Lens: FieldLens, Case: CaseLens, ID: Hashable & Sendable, Child: ObservableState, ChildAction
  >(
    state: KeyPath<State.Lenses, Lens>, id: ID, action: KeyPath<Action.CaseLenses, Case>
  ) -> ChildStore<Child, ChildAction>?
  where
    Lens.Root == State, Case.Root == Action, Lens.Value == KeyedCollection<ID, Child>,
    Case.Value == ElementAction<ID, ChildAction>
  {
    guard let slot = Lens.read(_state, { $0.slot(of: id) }) else { return nil }
    return ChildStore(
      sendAction: { action in
        self.send(Case.embed(ElementAction(id: id, action: action.pointee)))
      },
      read: { Lens.read(self._state) { $0[slot: slot] } },
      place: elementPlace(Lens.index, slot, id))
  }

  @usableFromInline
  func childPlace<Child: ObservableState>(_ index: Int) -> Place<Child> { place.child(index) }

  @usableFromInline
  func elementPlace<ID: Hashable & Sendable, Child: ObservableState>(
    _ index: Int, _ slot: KeyedSlot, _ id: ID
  ) -> Place<Child> {
    let collection = Place<KeyedCollection<ID, Child>>(
      node: { [root] _ in root.makeChild(index, ignored: []) }, ignored: [])
    return collection.element(slot, id: id)
  }
}
