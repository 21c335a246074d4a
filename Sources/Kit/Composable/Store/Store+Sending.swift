extension Store {
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
    // One by one: mostly there is one, and removing all at once is made for many.
    while !queue.isEmpty { queue.removeLast() }
  }

  @usableFromInline
  func stopFeedback() {
    let kinds = queue.suffix(64).map { ActionKind.name(of: $0) }
    queue.removeAll(keepingCapacity: true)
    report(.endlessActions(limit: feedbackLimit, lastKinds: ActionKind.cycle(in: kinds)))
  }

  // MARK: Delivery

  /// Tells observers what changed since the last delivery, each once; then what their own actions
  /// changed.
  /// - Complexity: proportional to the changed fields and their observers.
  @inlinable
  public func deliverChanges() {
    guard !isReducing, !isDelivering else { return }
    // Without observers changes stay where they are; the first one to come does not see them.
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

/// Names of actions for reports.
public enum ActionKind {
  /// The case of `action`, and that of an action within it, as in `chat.messages`; its type if it has
  /// no cases.
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

  /// The shortest sequence that `kinds` ends in at least twice; the last eight if there is none.
  static func cycle(in kinds: [String]) -> [String] {
    for length in stride(from: 1, through: kinds.count / 2, by: 1) {
      let last = kinds.suffix(length)
      if last.elementsEqual(kinds.dropLast(length).suffix(length)) { return Array(last) }
    }
    return Array(kinds.suffix(8))
  }
}

/// An action that carries another one besides an address.
protocol NestedAction {
  var nested: Any { get }
}

extension ElementAction: NestedAction {
  var nested: Any { action }
}
