/// A handle to a child of a store, which sends the child's actions, reads its state and observes
/// it. A cheap value that holds the store and a function. Not `Sendable`, like the store.
public struct ChildStore<State, Action> {
  /// A request to the store. It contains addresses, because passing generic values would need an
  /// adapter function.
  @usableFromInline
  enum Access {
    case send(UnsafePointer<Action>)
    case read(UnsafeMutablePointer<State?>)
    case point(UnsafeMutablePointer<ObservationPoint<State>?>)
  }

  // A single function: each function is an object whose reference count changes when a handle is
  // copied, which costs a cache miss per handle in a long list.
  @usableFromInline let access: (Access) -> Void

  @inlinable
  init(_ access: @escaping (Access) -> Void) { self.access = access }

  /// Sends an action of the child.
  @inlinable
  public func send(_ action: Action) { withUnsafePointer(to: action) { access(.send($0)) } }

  /// A copy of the child's state, or `nil` if the child does not exist.
  @inlinable public var state: State? {
    var state: State?
    withUnsafeMutablePointer(to: &state) { access(.read($0)) }
    return state
  }

  /// The observation node of the child.
  public var place: ObservationPoint<State> {
    var point: ObservationPoint<State>?
    withUnsafeMutablePointer(to: &point) { access(.point($0)) }
    guard let point else { preconditionFailure("a child store must set its observation point") }
    return point
  }
}

extension Store where Action: CasePathable {
  /// Returns a handle to the child in a field.
  @inlinable
  public func scope<Lens: FieldLens, Case: CaseLens>(
    state: KeyPath<State.Lenses, Lens>, action: KeyPath<Action.CaseLenses, Case>
  ) -> ChildStore<Lens.Value, Case.Value>
  where Lens.Root == State, Case.Root == Action, Lens.Value: ObservableState {
    ChildStore {
      switch $0 {
      case .send(let action): self.send(Case.embed(action.pointee))
      case .read(let state): Lens.read(self._state) { state.pointee = $0 }
      case .point(let point): point.pointee = self.childPoint(Lens.index)
      }
    }
  }

  /// Returns a handle to the child in an optional field.
  @inlinable
  public func scope<Lens: FieldLens, Case: CaseLens, Child: ObservableState>(
    state: KeyPath<State.Lenses, Lens>, action: KeyPath<Action.CaseLenses, Case>
  ) -> ChildStore<Child, Case.Value>
  where Lens.Root == State, Case.Root == Action, Lens.Value == Child? {
    ChildStore {
      switch $0 {
      case .send(let action): self.send(Case.embed(action.pointee))
      case .read(let state): Lens.read(self._state) { state.pointee = $0 }
      case .point(let point): point.pointee = self.childPoint(Lens.index)
      }
    }
  }

  /// Returns a handle to the child that is presented in an optional field.
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
      case .point(let point): point.pointee = self.childPoint(Lens.index)
      }
    }
  }

  /// Returns a handle to the element with the given key, or `nil` if there is none.
  ///
  /// The handle stays bound to that element. After the element is removed, the handle's state is
  /// `nil` and its actions are dropped and counted (``actionsWithoutChild``), even if a new element
  /// has the same key. If the whole collection is replaced, the handle refers to the element with
  /// the same key.
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

  /// Returns a handle to the screen of a stack with the given number, or `nil` if there is none.
  /// See ``scope(state:id:action:)``.
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
    guard let element = Lens.modifyUnrecorded(&_state, { $0.reference(to: id) }) else { return nil }
    return ChildStore {
      switch $0 {
      case .send(let action):
        if Lens.modifyUnrecorded(&self._state, { $0.expect(element) }) {
          self.send(Case.embed(ElementAction(id: element.id, action: action.pointee)))
        } else {
          self.countAbsentChild()
        }
      case .read(let state):
        Lens.read(self._state) { rows in
          state.pointee = rows.slot(of: element).flatMap { rows.contents[$0.index] }
        }
      case .point(let point):
        let slot = Lens.read(self._state) { $0.slot(of: element) }
        point.pointee = self.elementPoint(Lens.index, slot, element.id)
      }
    }
  }

  @usableFromInline
  func childPoint<Child: ObservableState>(_ index: Int) -> ObservationPoint<Child> {
    place.child(index)
  }

  @usableFromInline
  func elementPoint<ID: Hashable & Sendable, Child: ObservableState>(
    _ index: Int, _ slot: KeyedSlot?, _ id: ID
  ) -> ObservationPoint<Child> {
    guard let slot else {
      // A node outside the tree, because the element no longer changes.
      return ObservationPoint(
        node: { [deliveries] in ObservationNode(deliveries: deliveries, ignored: $0) },
        ignored: Child._$ignoredFields)
    }
    let collection = ObservationPoint<KeyedCollection<ID, Child>>(
      node: { [root] _ in root.makeChild(index, ignored: []) }, ignored: [])
    return collection.element(slot, id: id)
  }
}
