/// Holds a state, reduces actions into it in place, runs effects, and calls observers of changes.
///
///     let store = Store(initialState: Room.State(), lane: lane) { Room() }
///     let observer = store.observe(\.title) { print(store.state.title) }
///     store.send(.titled("Evening show"))
///
/// Not `Sendable`: a store belongs to its ``Lane`` and is used only there. Effects reach the store
/// through a mailbox. The cost of a send does not grow with the number of observers or child
/// handles.
public final class Store<State: ObservableState, Action: Sendable> {
  /// The time at which observers are called.
  public enum Notification: Sendable {
    /// At the end of each ``send(_:)``.
    case immediate
    /// When ``deliverChanges()`` is called, for example once per frame.
    case batched
  }

  /// A failure that the store reports to ``onFailure``.
  public enum Failure: Error, Sendable {
    /// An effect ended with an error that it did not handle.
    case uncaughtError(effect: String, any Error)
    /// Actions kept sending actions. `lastKinds` are the kinds of actions in the cycle.
    case endlessActions(limit: Int, lastKinds: [String])
    /// A child returned ``Effect/dismiss``, but no parent presents it.
    case dismissedWithoutParent
    /// An effect used its `send` after it had ended. The action was dropped.
    case lateAction
  }

  // Exclusivity is not checked at run time for properties that each send accesses. A store stays on
  // its lane, and `isReducing` prevents reentrant sends. The checks would cost more than the sends.
  // The state is the last property: a property after a field of unknown size is accessed
  // indirectly.
  @exclusivity(unchecked) @usableFromInline var turn: UInt64 = 0
  @usableFromInline let run: ReducerFunction<State, Action>
  @usableFromInline let hasChild: (State, EffectScope) -> Bool
  @usableFromInline let root: ObservationNode
  @usableFromInline let deliveries = ObserverQueue()
  /// The callbacks before and after each action, for logging and debugging.
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
  /// The tracked send that is being processed, or 0 if there is none.
  @exclusivity(unchecked) @usableFromInline var origin: UInt64 = 0
  /// Collects the actions of the next part of a sequence, or of an effect that a limiter released,
  /// each with the scope that must still exist. `nil` while no such effects are performed.
  @exclusivity(unchecked) @usableFromInline var resumed: [(action: Action, scope: EffectScope)]?
  let endCallbacks = EndCallbacks()
  /// A closure for test stores, to which the actions of effects are passed instead of being queued.
  /// The closure also receives the tracked send that started the effect, and whether the current
  /// action caused the effect's action.
  @exclusivity(unchecked) @usableFromInline package var effectActionSink:
    ((Action, _ origin: UInt64, _ isFeedback: Bool) -> Void)?

  /// A closure to which each action of a running effect is passed instead of being reduced. A
  /// program that logs every input can thus log the action before sending it.
  @exclusivity(unchecked) @usableFromInline package var onEffectAction: ((Action) -> Void)?
  /// Whether effects are started. A program turns effects off while it replays recorded actions,
  /// because the recording already contains the actions of effects.
  @exclusivity(unchecked) @usableFromInline package var startsEffects = true

  /// The maximum number of actions that follow from one send before a failure is reported.
  @exclusivity(unchecked) public var feedbackLimit = 10_000
  /// A closure that is called with each failure, in addition to counting it in ``failures``.
  @exclusivity(unchecked) public var onFailure: ((Failure) -> Void)?
  /// A closure that is called on the lane after actions sent by effects were reduced, once per
  /// batch. Use it to draw a frame, because the caller of `send` does not see actions of effects.
  @exclusivity(unchecked) public var onEffectActions: (() -> Void)?
  /// A closure that is called with advice, for example about a scope that is computed too often.
  public var onWarning: ((String) -> Void)?
  @usableFromInline var computedScopes: [ScopeCount] = []
  /// The number of failures so far.
  @exclusivity(unchecked) public private(set) var failures = 0
  /// The number of actions that were dropped because their child did not exist.
  @exclusivity(unchecked) public private(set) var actionsWithoutChild = 0
  @exclusivity(unchecked) @usableFromInline var _state: State

  /// Makes a store that is used on `lane`; its effects also run there unless they pass `onLane:
  /// false`. `notification` selects when observers are called. `reducer` makes the reducer, whose
  /// composition is built once, by this initializer.
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
    self.root = ObservationNode(deliveries: deliveries, ignored: State._$ignoredFields)
    mailbox.receiver = { [unowned(unsafe) self] batch in self.receive(batch) }
    deliveries.beforeObserving = { [unowned(unsafe) self] in
      if !self.isReducing { self.drainChanges() }
    }
    // Changes made while the initial state was built are not reported.
    _ = _state._$drain(into: nil, replaced: false)
  }

  deinit {
    mailbox.close()
    effects.cancelAll()
    endCallbacks.callAll()
  }

  /// The current state. Do not keep a copy across a send: the next mutation would have to copy the
  /// collections that the copy shares.
  @inlinable public var state: State { _read { yield _state } }

  /// Reads the state without a copy.
  ///
  /// If a computed property of the state is in another module, the compiler copies ``state`` to
  /// call the property. For a large state, such a copy touches hundreds of memory locations.
  /// Actions that `question` sends are queued and reduced with the next send.
  @inlinable
  public func withState<R>(_ question: (borrowing Uncopied<State>) -> R) -> R {
    let wasReducing = isReducing
    isReducing = true
    defer { isReducing = wasReducing }
    return withUnsafeMutablePointer(to: &_state) {
      $0.withMemoryRebound(to: Uncopied<State>.self, capacity: 1) { question($0.pointee) }
    }
  }

  /// The number of actions reduced so far.
  @inlinable public var actionCount: UInt64 { turn }

  /// The number of reduced actions by kind, such as `chat.messages`, in the order of declaration.
  public var actionsByKind: [(kind: String, count: UInt64)] {
    countedKinds.compactMap { kind in
      let count = kind.counter.count(ofKind: kind.number)
      return count > 0 ? (kind.path, count) : nil
    }
  }

  /// The kinds of this reducer and of its children, cached because monitoring reads the counts
  /// often and building the names costs more than reading the counts.
  private lazy var countedKinds = counter.kinds(below: childCounters)

  /// The kind of the action that is being reduced, or was reduced last. Any thread may read it.
  public var actionTrace: ActionTrace { ActionTrace(counter, childCounters) }

  @usableFromInline
  func report(_ failure: Failure) {
    failures += 1
    onFailure?(failure)
  }

  @usableFromInline
  func countAbsentChild() { actionsWithoutChild += 1 }
}
