extension Store {
  /// The number of running effects.
  public var runningEffects: Int { effects.count }

  /// The number of effects started so far.
  package var startedEffects: UInt64 { effects.started }

  /// The names of the running effects, in the order in which they were started.
  public var runningEffectNames: [String] { effects.names }

  /// The names of the running effects, with the file and line of effects without a name.
  public var runningEffectDescriptions: [String] { effects.descriptions }

  /// Cancels all running effects. The store can still be used.
  public func cancelEffects() { effects.cancelAll() }

  @inlinable
  func perform(_ effect: Effect<Action>) {
    // Most effects only send one action.
    if let action = effect.action, effectActionSink == nil {
      queue.append(action)
    } else {
      perform(effect, in: effects.root)
    }
  }

  /// - Parameter sequence: The sequence that waits for the effect to end.
  @inlinable
  func perform(
    _ effect: Effect<Action>, in scope: EffectScope, _ sequence: EffectSequence? = nil
  ) {
    switch effect.operation {
    case nil: return
    case .send(let action):
      if let effectActionSink {
        effectActionSink(action, origin, isReducing)
      } else if resumed != nil {
        effects.retain(scope)
        resumed?.append((action, scope))
      } else {
        queue.append(action)
      }
    case .run(let run): start(run, in: scope, sequence)
    case .limit(let limited): limit(limited, in: scope, sequence)
    case .cancel(let id): effects.cancel(id: id, scope: scope)
    case .endScope(let key, let present): effects.endScope(key, in: scope, unless: present)
    case .endElements(let tag, let isPresent):
      effects.endElements(tag, in: scope, isPresent: isPresent)
    case .absentChild: countAbsentChild()
    case .dismiss, .strayDismissal: report(.dismissedWithoutParent)
    case .scoped(let key, let identity, let owner, let inner):
      let child = effects.scope(key, identity, in: scope, owner: owner)
      effects.retain(child)
      perform(inner, in: child, sequence)
      effects.release(child)
    case .many(let all): for effect in all { perform(effect, in: scope, sequence) }
    case .sequence(let all): begin(all, in: scope, sequence)
    }
  }

  @inlinable
  func start(_ run: RunEffect<Action>, in scope: EffectScope, _ sequence: EffectSequence?) {
    guard startsEffects else { return effects.interrupt(sequence) }
    let effect = RunningTask(
      run, scope: scope, sequence: sequence, origin: origin, mailbox: mailbox)
    effects.register(effect, in: scope)
    let executor =
      run.onLane ? mailbox.lane.taskExecutor(named: run.name) : mailbox.lane.poolExecutor
    // A closure stored in a variable would be wrapped in adapters. The task has no name: it would
    // add a quarter to the cost of a task, and the store already keeps the name of the effect.
    let task = Task(executorPreference: executor, priority: run.priority) { await effect.perform() }
    effects.started(effect, task)
  }

  // MARK: Messages of effects

  @inlinable
  func receive(_ batch: ContiguousArray<Mailbox<Action>.Message>) {
    let actionsBefore = turn
    for message in batch {
      switch message {
      case .action(let action, let effect):
        if mayArrive(effect) { receive(action, origin: effect.origin) }
      case .actions(let actions, let effect):
        // If one of the actions cancels the effect or removes its child, the remaining actions are
        // dropped.
        for action in actions {
          guard mayArrive(effect) else { break }
          receive(action, origin: effect.origin)
        }
      case .failed(let error, let effect):
        fail(effect, error)
      case .due(let effect): wake(effect)
      case .finished(let effect):
        if let sequence = effects.finished(effect) { continueSequence(sequence) }
      }
    }
    if case .immediate = notification { deliverChanges() }
    if turn != actionsBefore { onEffectActions?() }
  }

  @inlinable
  func receive(_ action: Action, origin: UInt64) {
    if let onEffectAction {
      onEffectAction(action)
    } else {
      enter(CollectionOfOne(action), origin: origin)
    }
  }

  @usableFromInline
  func fail(_ effect: RunningEffect, _ error: any Error) {
    guard effect.scope != nil else { return }
    if !(error is CancellationError) { report(.uncaughtError(effect: effect.description, error)) }
    effects.interrupt(effect.sequence)
  }

  /// Returns whether an action of an effect is to be reduced: the effect is running and the child
  /// that started it is present.
  @inlinable
  func mayArrive(_ effect: RunningEffect) -> Bool {
    guard let scope = effect.scope else {
      if !effect.isCancelled { report(.lateAction) }
      return false
    }
    return scope === effects.root || isCurrent(scope)
  }

  /// Returns whether the child of a scope still exists. If it does not, ends its effects.
  @inlinable
  func isCurrent(_ scope: EffectScope) -> Bool {
    guard scope !== effects.root, !isReducing else { return true }
    var top = scope
    top.next = nil
    while let parent = top.parent {
      parent.next = top
      top = parent
    }
    guard !hasChild(_state, top) else { return true }
    effects.endScope(scope)
    return false
  }

  /// Reduces actions without delivering changes, because the changes of a whole batch are delivered
  /// once.
  @inlinable
  func enter(_ actions: some Sequence<Action>, origin: UInt64) {
    if let effectActionSink {
      for action in actions { effectActionSink(action, origin, false) }
      return
    }
    guard !isReducing else {
      queue.append(contentsOf: actions)
      return
    }
    within(origin) {
      isReducing = true
      if !queue.isEmpty { processQueue() }
      for action in actions {
        process(action)
        if !queue.isEmpty { processQueue() }
      }
      isReducing = false
    }
  }

  /// Runs `body`. Effects that `body` starts belong to the tracked send `origin`.
  @inlinable
  func within(_ origin: UInt64, _ body: () -> Void) {
    let outer = self.origin
    self.origin = origin
    body()
    self.origin = outer
  }
}
