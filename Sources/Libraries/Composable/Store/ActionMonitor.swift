/// The callbacks before and after each action of a store, for logging and debugging.
@usableFromInline
final class ActionMonitor<State: ObservableState, Action: Sendable> {
  var onBegin: [() -> Void] = []
  var onAction: [(Action) -> Void] = []
  var onChanges: [(Action, [String]) -> Void] = []
  /// Whether observers learn which action caused a change.
  var attributesChanges = false

  @usableFromInline
  func begin(_ store: Store<State, Action>, _ action: Action) {
    // Delivers earlier changes, so that all changes recorded later belong to this action.
    if !onChanges.isEmpty { store.drainChanges() }
    for callback in onBegin { callback() }
  }

  @usableFromInline
  func end(_ store: Store<State, Action>, _ action: Action) {
    if !onChanges.isEmpty {
      var paths: [String] = []
      if store.isReplaced { paths.append("(everything)") }
      store._state._$collectChanges(at: "", into: &paths)
      for callback in onChanges { callback(action, paths) }
    }
    if attributesChanges { store.attributeChanges() }
    for callback in onAction { callback(action) }
  }
}

extension Store {
  private var madeMonitor: ActionMonitor<State, Action> {
    if let monitor { return monitor }
    let monitor = ActionMonitor<State, Action>()
    self.monitor = monitor
    return monitor
  }

  /// Records for each observer which kind of action changed the observed fields, in
  /// ``Observer/causes``.
  ///
  /// Changes are then examined after each action, which costs tens of nanoseconds. Observers are
  /// still called once per delivery.
  public func attributeChanges(_ isOn: Bool) {
    drainChanges()
    deliveries.trace = isOn ? actionTrace : nil
    madeMonitor.attributesChanges = isOn
  }

  /// Attributes the recorded changes to the current action.
  func attributeChanges() {
    guard deliveries.observerCount != 0 else { return }
    deliveries.cause = deliveries.trace?.code ?? 0
    drainChanges()
    deliveries.cause = 0
  }

  /// Calls `callback` before each action is reduced, for example to measure the duration.
  public func onActionBegin(_ callback: @escaping () -> Void) {
    madeMonitor.onBegin.append(callback)
  }

  /// Calls `callback` after each action was reduced, for example to log it.
  public func onAction(_ callback: @escaping (Action) -> Void) {
    madeMonitor.onAction.append(callback)
  }

  /// Calls `callback` after each action with the paths of the changed fields, such as `chat.count`,
  /// according to the dirty bits.
  ///
  /// For debugging: while a callback is registered, changes are examined after each action and not
  /// once per frame.
  public func onChanges(_ callback: @escaping (Action, _ paths: [String]) -> Void) {
    drainChanges()
    madeMonitor.onChanges.append(callback)
  }

  /// Passes one line per action to `output`: the kind of the action and the fields that the action
  /// changed, for example `chat.messages: chat.total, chat.messages`.
  public func printChanges(to output: @escaping (String) -> Void) {
    onChanges { action, paths in
      let changes = paths.isEmpty ? "(nothing)" : paths.joined(separator: ", ")
      output("\(ActionKind.name(of: action)): \(changes)")
    }
  }
}
