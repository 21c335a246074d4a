extension Store {
  /// Reduces `action`, and then the actions that follow from it, in order.
  ///
  /// A call while the store is reducing, for example by an observer in immediate mode, queues the
  /// action.
  /// - Complexity: The cost of the reducer. Observers of unchanged fields cost nothing.
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
    if let monitor { monitor.begin(self, action) }
    let token = _state._$enter(stamp: turn << 1 | 1)
    let effect = run(&_state, action)
    if !_state._$leave(token: token) { isReplaced = true }
    if !effect.isNone { perform(effect) }
    if let monitor { monitor.end(self, action) }
  }

  @inlinable
  func processQueue() {
    var position = 0
    while position < queue.count {
      guard position < feedbackLimit else {
        stopFeedback()
        return
      }
      process(queue[position])
      position += 1
    }
    // Removes actions one by one: usually there is only one, and `removeAll` is optimised for many.
    while !queue.isEmpty { queue.removeLast() }
  }

  @usableFromInline
  func stopFeedback() {
    let kinds = queue.suffix(64).map { ActionKind.name(of: $0) }
    queue.removeAll(keepingCapacity: true)
    report(.endlessActions(limit: feedbackLimit, lastKinds: ActionKind.cycle(in: kinds)))
  }

  // MARK: Delivery

  /// Calls each observer of changes since the last delivery once, and then delivers the changes
  /// that observers made.
  /// - Complexity: Proportional to the number of changed fields and their observers.
  @inlinable
  public func deliverChanges() {
    guard !isReducing, !isDelivering else { return }
    // Without observers, changes stay recorded, and the first new observer does not see them.
    if deliveries.observerCount != 0 { drainChanges() }
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
}

/// The names of actions in reports.
public enum ActionKind {
  /// Returns the case of `action`, with the case of a nested action, as in `chat.messages`. Returns
  /// the type if the action has no cases.
  public static func name(of action: Any) -> String {
    guard let action = action as? any CasePathable else { return "\(type(of: action))" }
    return name(ofCase: action)
  }

  private static func name<A: CasePathable>(ofCase action: A) -> String {
    let name = A._$caseNames[action._$tag]
    guard let payload = Mirror(reflecting: action).children.first?.value else { return name }
    if let inner = payload as? any CasePathable { return "\(name).\(self.name(ofCase: inner))" }
    if let element = payload as? any NestedAction, let inner = element.nested as? any CasePathable {
      return "\(name).\(self.name(ofCase: inner))"
    }
    return name
  }

  /// Returns the shortest sequence that is repeated at least twice at the end of `kinds`, or the
  /// last eight kinds if there is none.
  static func cycle(in kinds: [String]) -> [String] {
    for length in stride(from: 1, through: kinds.count / 2, by: 1) {
      let last = kinds.suffix(length)
      if last.elementsEqual(kinds.dropLast(length).suffix(length)) { return Array(last) }
    }
    return Array(kinds.suffix(8))
  }
}

/// An action that contains the action of an element or a presented child.
protocol NestedAction {
  var nested: Any { get }
}

extension ElementAction: NestedAction {
  var nested: Any { action }
}
