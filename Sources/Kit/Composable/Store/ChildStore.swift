/// A child of a store as its own small store: sends its actions, reads its state, observes it.
///
/// A cheap value that holds the store and a function: no cache, no subscription, nothing to free.
/// Not `Sendable`, like its store.
public struct ChildStore<State, Action> {
  /// What is asked of the store. Addresses: values of generic type would pass through an adapter.
  @usableFromInline
  enum Access {
    case send(UnsafePointer<Action>)
    case read(UnsafeMutablePointer<State?>)
    case place(UnsafeMutablePointer<Place<State>?>)
  }

  // One function, since each is an object of its own, which a copy of the handle visits to count a
  // reference: in a list of many handles, one more that the cache does not have.
  @usableFromInline let access: (Access) -> Void

  @inlinable
  init(_ access: @escaping (Access) -> Void) { self.access = access }

  /// Sends an action of the child.
  @inlinable
  public func send(_ action: Action) { withUnsafePointer(to: action) { access(.send($0)) } }

  /// A copy of the child's state; `nil` if it does not exist.
  @inlinable public var state: State? {
    var state: State?
    withUnsafeMutablePointer(to: &state) { access(.read($0)) }
    return state
  }

  /// Where observers of the child hang.
  public var place: Place<State> {
    var place: Place<State>?
    withUnsafeMutablePointer(to: &place) { access(.place($0)) }
    guard let place else { preconditionFailure("a handle knows its place") }
    return place
  }
}

extension Store where Action: CasePathable {
  /// The child in a field.
  @inlinable
  public func scope<Lens: FieldLens, Case: CaseLens>(
    state: KeyPath<State.Lenses, Lens>, action: KeyPath<Action.CaseLenses, Case>
  ) -> ChildStore<Lens.Value, Case.Value>
  where Lens.Root == State, Case.Root == Action, Lens.Value: ObservableState {
    ChildStore {
      switch $0 {
      case .send(let action): self.send(Case.embed(action.pointee))
      case .read(let state): Lens.read(self._state) { state.pointee = $0 }
      case .place(let place): place.pointee = self.childPlace(Lens.index)
      }
    }
  }

  /// The child in an optional field.
  @inlinable
  public func scope<Lens: FieldLens, Case: CaseLens, Child: ObservableState>(
    state: KeyPath<State.Lenses, Lens>, action: KeyPath<Action.CaseLenses, Case>
  ) -> ChildStore<Child, Case.Value>
  where Lens.Root == State, Case.Root == Action, Lens.Value == Child? {
    ChildStore {
      switch $0 {
      case .send(let action): self.send(Case.embed(action.pointee))
      case .read(let state): Lens.read(self._state) { state.pointee = $0 }
      case .place(let place): place.pointee = self.childPlace(Lens.index)
      }
    }
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
    ChildStore {
      switch $0 {
      case .send(let action): self.send(Case.embed(.presented(action.pointee)))
      case .read(let state): Lens.read(self._state) { state.pointee = $0 }
      case .place(let place): place.pointee = self.childPlace(Lens.index)
      }
    }
  }

  /// The element of a collection with the given key; `nil` if there is none.
  ///
  /// The handle stays with that element: after its removal its state is `nil` and its actions are
  /// dropped and counted (``actionsWithoutChild``), even if an element with the same key comes. In a
  /// collection that replaces the whole one it is the element with the same key.
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
    element(Lens.self, Case.self, id)
  }

  /// The screen of a stack with the given number; `nil` if there is none. See ``scope(state:id:action:)``.
  @inlinable
  public func scope<Lens: FieldLens, Case: CaseLens, Screen: ObservableState, ScreenAction>(
    state: KeyPath<State.Lenses, Lens>, id: StackElementID, action: KeyPath<Action.CaseLenses, Case>
  ) -> ChildStore<Screen, ScreenAction>?
  where
    Lens.Root == State, Case.Root == Action, Lens.Value == StackState<Screen>,
    Case.Value == NavigationAction<Screen, ScreenAction>
  {
    element(Lens.self, ScreenCase<Case, Screen, ScreenAction>.self, id)
  }

  @inlinable
  func element<
    Lens: FieldLens, Case: CaseLens, ID: Hashable & Sendable, Child: ObservableState, ChildAction
  >(_ lens: Lens.Type, _ path: Case.Type, _ id: ID) -> ChildStore<Child, ChildAction>?
  where
    Lens.Root == State, Case.Root == Action, Lens.Value == KeyedCollection<ID, Child>,
    Case.Value == ElementAction<ID, ChildAction>
  {
    guard let element = Lens.modifyUnnoted(&_state, { $0.reference(to: id) }) else { return nil }
    return ChildStore {
      switch $0 {
      case .send(let action):
        if Lens.modifyUnnoted(&self._state, { $0.expect(element) }) {
          self.send(Case.embed(ElementAction(id: element.id, action: action.pointee)))
        } else {
          self.noteAbsentChild()
        }
      case .read(let state):
        Lens.read(self._state) { rows in
          state.pointee = rows.slot(of: element).flatMap { rows.contents[$0.index] }
        }
      case .place(let place):
        let slot = Lens.read(self._state) { $0.slot(of: element) }
        place.pointee = self.elementPlace(Lens.index, slot, element.id)
      }
    }
  }

  @usableFromInline
  func childPlace<Child: ObservableState>(_ index: Int) -> Place<Child> { place.child(index) }

  @usableFromInline
  func elementPlace<ID: Hashable & Sendable, Child: ObservableState>(
    _ index: Int, _ slot: KeyedSlot?, _ id: ID
  ) -> Place<Child> {
    guard let slot else {
      // Nothing will change there.
      return Place(
        node: { [deliveries] in PlaceNode(deliveries: deliveries, ignored: $0) },
        ignored: Child._$ignoredFields)
    }
    let collection = Place<KeyedCollection<ID, Child>>(
      node: { [root] _ in root.makeChild(index, ignored: []) }, ignored: [])
    return collection.element(slot, id: id)
  }
}
