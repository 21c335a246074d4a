/// Holds a state, reduces actions into it in place, runs effects, and tells observers what changed.
///
///     let store = Store(initialState: Room.State(), lane: lane) { Room() }
///     let observer = store.observe(\.title) { print(store.state.title) }
///     store.send(.titled("Evening show"))
///
/// Not `Sendable`: belongs to its ``Lane`` and never leaves it; effects reach it through a mailbox.
/// The cost of a send does not grow with the number of observers or child handles.
public final class Store<State: ObservableState, Action: Sendable> {
  /// When observers are called.
  public enum Notification: Sendable {
    /// At the end of each ``send(_:)``.
    case immediate
    /// When ``deliverChanges()`` is called, once per frame, for all sends since.
    case batched
  }

  /// What the store could not do quietly.
  public enum Failure: Error, Sendable {
    /// An effect ended with an error that it did not handle.
    case uncaughtError(effect: String, any Error)
    /// Actions kept sending actions; `lastKinds` is the cycle, by the kinds of its actions.
    case endlessActions(limit: Int, lastKinds: [String])
    /// A child returned ``Effect/dismiss``, but no parent presents it.
    case dismissedWithoutParent
    /// An effect that had ended sent an action, which was dropped: its `send` outlived it.
    case lateAction
  }

  // Exclusivity is unchecked at run time for what each send touches: a store stays on its lane, and
  // `isReducing` keeps a send from entering another. The checks cost more than the sends. The state
  // comes last: what comes after a field whose size is not known here is found indirectly.
  @exclusivity(unchecked) @usableFromInline var turn: UInt64 = 0
  @usableFromInline let run: ReducerFunction<State, Action>
  @usableFromInline let hasChild: (State, EffectScope) -> Bool
  @usableFromInline let root: PlaceNode
  @usableFromInline let deliveries = DeliveryQueue()
  /// Called around each action; for journals and debugging.
  @exclusivity(unchecked) @usableFromInline var monitor: ActionMonitor<State, Action>?
  @exclusivity(unchecked) @usableFromInline var notification: Notification
  @exclusivity(unchecked) @usableFromInline var isReducing = false
  @exclusivity(unchecked) @usableFromInline var isDelivering = false
  @exclusivity(unchecked) @usableFromInline var isReplaced = false
  @exclusivity(unchecked) @usableFromInline var queue: ContiguousArray<Action> = []
  @usableFromInline let counter: ActionCounter
  @usableFromInline let childCounters: [ChildCounter]
  @usableFromInline let mailbox: Mailbox<Action>
  @exclusivity(unchecked) @usableFromInline var effects = EffectRegistry()
  /// The tracked send that is being processed; 0 if none.
  @exclusivity(unchecked) @usableFromInline var origin: UInt64 = 0
  /// What effects send that go on without an action, with the scope that it must find; `nil` while none do.
  @exclusivity(unchecked) @usableFromInline var resumed: [(action: Action, scope: EffectScope)]?
  let endCallbacks = EndCallbacks()
  /// Takes the actions that effects send, in place of the queue; for stores under test. Told are also
  /// the tracked send that the action follows from, and whether the action in hand leads to it.
  @exclusivity(unchecked) @usableFromInline package var effectActionSink:
    ((Action, _ origin: UInt64, _ isFeedback: Bool) -> Void)?

  /// Takes each action that a running effect sends, instead of its being reduced: for programs that log every
  /// input first, and then send it.
  @exclusivity(unchecked) @usableFromInline package var onEffectAction: ((Action) -> Void)?
  /// Whether effects are started. Not while a program repeats what has happened before: what effects brought
  /// back is part of that.
  @exclusivity(unchecked) @usableFromInline package var startsEffects = true

  /// How many actions one send may lead to by feedback, before that is an error.
  @exclusivity(unchecked) public var feedbackLimit = 10_000
  /// Called with what went wrong. Nothing is swallowed: without a handler it is counted in ``failures``.
  @exclusivity(unchecked) public var onFailure: ((Failure) -> Void)?
  /// Called on the lane after actions that effects sent were reduced, once for all that came together:
  /// the caller of `send` does not see these. For code that draws frames.
  @exclusivity(unchecked) public var onEffectActions: (() -> Void)?
  /// Called with advice, such as about a scope that is computed too often.
  public var onWarning: ((String) -> Void)?
  @usableFromInline var computedScopes: [ScopeCount] = []
  /// What went wrong so far.
  @exclusivity(unchecked) public private(set) var failures = 0
  /// Actions for a child that did not exist; they were dropped.
  @exclusivity(unchecked) public private(set) var actionsWithoutChild = 0
  @exclusivity(unchecked) @usableFromInline var _state: State

  /// Makes a store.
  ///
  /// - Parameters:
  ///   - lane: where the store lives and its effects run, unless they say otherwise.
  ///   - notification: when observers are called.
  ///   - reducer: makes the reducer; its composition is put together once, here.
  @inlinable
  public convenience init<R: Reducer>(
    initialState: State, lane: any Lane, notification: Notification = .immediate,
    reducer: () -> R
  ) where R.State == State, R.Action == Action {
    self.init(initialState, lane, notification, reducer().makeSteps())
  }

  @inlinable
  init(
    _ state: State, _ lane: any Lane, _ notification: Notification,
    _ reducer: ReducerSteps<State, Action>
  ) {
    _state = state
    run = reducer.run
    hasChild = reducer.hasChild
    counter = reducer.counter
    childCounters = reducer.childCounters
    self.notification = notification
    self.mailbox = Mailbox(lane: lane)
    self.root = PlaceNode(deliveries: deliveries, ignored: State._$ignoredFields)
    mailbox.receiver = { [unowned(unsafe) self] batch in self.receive(batch) }
    deliveries.beforeObserving = { [unowned(unsafe) self] in
      if !self.isReducing { self.drainChanges() }
    }
    // Changes made while the initial state was put together are not reported.
    _ = _state._$drain(into: nil, replaced: false)
  }

  deinit {
    mailbox.close()
    effects.cancelAll()
    endCallbacks.callAll()
  }

  /// The state as it is now. Read it, do not keep it: a copy that lives across a send makes the next
  /// mutation of its collections copy them.
  @inlinable public var state: State { _read { yield _state } }

  /// Asks something of the state where it is.
  ///
  /// For an answer that comes from another module, the compiler makes a copy of ``state``, and of a large one that is
  /// hundreds of places in memory. Actions that `question` sends are reduced with the next one that is sent.
  @inlinable
  public func withState<R>(_ question: (borrowing Uncopied<State>) -> R) -> R {
    let wasReducing = isReducing
    isReducing = true
    defer { isReducing = wasReducing }
    return withUnsafeMutablePointer(to: &_state) {
      $0.withMemoryRebound(to: Uncopied<State>.self, capacity: 1) { question($0.pointee) }
    }
  }

  /// Number of actions that the reducer reduced.
  @inlinable public var actionCount: UInt64 { turn }

  /// Counts of reduced actions by kind, such as `chat.messages`, in the order of declaration.
  public var actionsByKind: [(kind: String, count: UInt64)] {
    countedKinds.compactMap { kind in
      let count = kind.counter.count(ofKind: kind.number)
      return count > 0 ? (kind.path, count) : nil
    }
  }

  /// The kinds of this reducer and below. Whoever watches a store asks for their counts often, and
  /// putting their names together costs more than all else.
  private lazy var countedKinds = counter.kinds(below: childCounters)

  /// The kind of the action that is being reduced, or was reduced last; may be read by any thread.
  public var actionTrace: ActionTrace { ActionTrace(counter, childCounters) }

  @usableFromInline
  func report(_ failure: Failure) {
    failures += 1
    onFailure?(failure)
  }

  @usableFromInline
  func noteAbsentChild() { actionsWithoutChild += 1 }
}
