/// Holds a state, reduces actions into it in place, runs effects, and tells observers what changed.
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
    /// Actions kept sending actions; the cycle is named by the kinds of the last ones.
    case endlessActions(limit: Int, lastKinds: [String])
  }

  // Exclusivity is unchecked at run time for what each send touches: a store stays on its lane, and
  // `isReducing` keeps a send from entering another. The checks cost more than the sends.
  @exclusivity(unchecked) @usableFromInline var _state: State
  @usableFromInline let reducer: BuiltReducer<State, Action>
  @usableFromInline let root: PlaceNode
  @usableFromInline let deliveries = DeliveryQueue()
  @exclusivity(unchecked) @usableFromInline var notification: Notification
  @exclusivity(unchecked) @usableFromInline var isReducing = false
  @exclusivity(unchecked) @usableFromInline var isDelivering = false
  @exclusivity(unchecked) @usableFromInline var isReplaced = false
  @exclusivity(unchecked) @usableFromInline var queue: ContiguousArray<Action> = []
  @exclusivity(unchecked) @usableFromInline var turn: UInt64 = 0
  let mailbox: Mailbox<Action>
  var effects = EffectRegistry()

  /// How many actions one send may lead to by feedback, before that is an error.
  public var feedbackLimit = 10_000
  /// Called with what went wrong. Nothing is swallowed: without a handler it is counted in ``failures``.
  public var onFailure: ((Failure) -> Void)?
  public private(set) var failures = 0
  /// Actions for a child that did not exist; they were dropped.
  public private(set) var actionsWithoutChild = 0
  /// Called after each action was reduced; for journals and debugging.
  @exclusivity(unchecked) @usableFromInline var onAction: ((Action) -> Void)?

  /// Takes the actions that effects send, in place of the queue; for stores under test.
  package var effectActionSink: ((Action) -> Void)?

  /// Number of actions that the reducer reduced.
  @inlinable public var actionCount: UInt64 { turn }
  /// Number of effects that run.
  public var runningEffects: Int { effects.count }

  public init<R: Reducer>(
    initialState: State, lane: any Lane, notification: Notification = .immediate,
    reducer: () -> R
  ) where R.State == State, R.Action == Action {
    self._state = initialState
    self.reducer = reducer().build()
    self.notification = notification
    self.mailbox = Mailbox(lane: lane)
    self.root = PlaceNode(deliveries: deliveries, ignored: State._$ignoredFields)
    mailbox.receiver = self
    // Changes made while the initial state was put together concern nobody.
    _ = _state._$drain(into: nil, replaced: false)
  }

  deinit {
    mailbox.receiver = nil
    effects.cancelAll()
  }

  /// The state as it is now. Read it, do not keep it: a copy that lives across a send makes the next
  /// mutation of its collections copy them.
  @inlinable public var state: State { _read { yield _state } }

  /// Reduces `action`, and then the actions that it led to, in order.
  ///
  /// Called while reducing (by an observer in immediate mode, say) it queues the action.
  /// - Complexity: that of the reducer; observers cost only where something changed.
  @inlinable
  public func send(_ action: Action) {
    guard !isReducing else {
      queue.append(action)
      return
    }
    isReducing = true
    process(action)
    if !queue.isEmpty { processQueue() }
    isReducing = false
    if case .immediate = notification { deliverChanges() }
  }

  /// Reduces `actions` in order and delivers their changes once.
  @inlinable
  public func send(contentsOf actions: some Sequence<Action>) {
    guard !isReducing else {
      queue.append(contentsOf: actions)
      return
    }
    isReducing = true
    for action in actions {
      process(action)
      if !queue.isEmpty { processQueue() }
    }
    isReducing = false
    if case .immediate = notification { deliverChanges() }
  }

  @inlinable
  func process(_ action: Action) {
    turn &+= 1
    let token = _state._$enter(stamp: Stamp.of(field: 0, in: turn))
    let effect = reducer.reduce(into: &_state, action: action)
    if !_state._$leave(token: token) { isReplaced = true }
    if !effect.isNone { perform(effect) }
    onAction?(action)
  }

  @usableFromInline
  func processQueue() {
    var position = 0
    while position < queue.count {
      guard position < feedbackLimit else {
        let kinds = queue.suffix(8).map { ActionKind.name(of: $0) }
        queue.removeAll(keepingCapacity: true)
        report(.endlessActions(limit: feedbackLimit, lastKinds: kinds))
        return
      }
      process(queue[position])
      position += 1
    }
    queue.removeAll(keepingCapacity: true)
  }

  /// Tells observers what changed since the last delivery, each once; then what their own actions
  /// changed.
  /// - Complexity: proportional to the changed fields and their observers.
  @inlinable
  public func deliverChanges() {
    guard !isReducing, !isDelivering else { return }
    drainChanges()
    if !deliveries.isEmpty { deliverRounds() }
  }

  @inlinable
  func drainChanges() {
    let replaced = isReplaced
    isReplaced = false
    _ = _state._$drain(into: root, replaced: replaced)
  }

  @usableFromInline
  func deliverRounds() {
    isDelivering = true
    defer { isDelivering = false }
    var rounds = 0
    while !deliveries.isEmpty {
      rounds += 1
      guard rounds <= feedbackLimit else {
        report(.endlessActions(limit: feedbackLimit, lastKinds: ["(observers)"]))
        return
      }
      deliveries.deliver()
      drainChanges()
    }
  }

  func report(_ failure: Failure) {
    failures += 1
    onFailure?(failure)
  }

  func noteAbsentChild() { actionsWithoutChild += 1 }

  /// Counts of reduced actions by kind, such as `chat.messages`, in the order of declaration.
  public var actionsByKind: [(kind: String, count: UInt64)] {
    var counts: [(kind: String, count: UInt64)] = []
    reducer.collectCounts(prefix: "", into: &counts)
    return counts
  }
}

/// Names of actions for reports.
public enum ActionKind {
  /// The case of `action`; its type if it has no cases.
  public static func name(of action: Any) -> String {
    guard let action = action as? any CasePathable else { return "\(type(of: action))" }
    return name(ofCase: action)
  }

  private static func name<A: CasePathable>(ofCase action: A) -> String {
    A._$caseNames[action._$tag]
  }
}
