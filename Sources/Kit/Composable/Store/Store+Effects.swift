import RateLimiting

extension Store {
  /// Number of effects that run.
  public var runningEffects: Int { effects.count }

  /// Number of effects that were started so far.
  package var startedEffects: UInt64 { effects.started }

  /// Names of the effects that run, in the order in which they were started.
  public var runningEffectNames: [String] { effects.names }

  /// Cancels everything that runs. The store can go on.
  public func cancelEffects() { effects.cancelAll() }

  @inlinable
  func perform(_ effect: Effect<Action>) {
    // Most effects are one action to be sent.
    if let action = effect.action, effectActionSink == nil {
      queue.append(action)
    } else {
      perform(effect, in: effects.root)
    }
  }

  @inlinable
  func perform(_ effect: Effect<Action>, in scope: EffectScope) {
    switch effect.operation {
    case nil: return
    case .send(let action):
      if let effectActionSink {
        effectActionSink(action, origin, isReducing)
      } else {
        queue.append(action)
      }
    case .run(let run): start(run, in: scope)
    case .limit(let limited): limit(limited, in: scope)
    case .cancel(let id): effects.cancel(id: id, scope: scope)
    case .endScope(let key, let present): effects.endScope(key, in: scope, unless: present)
    case .endElements(let tag, let isPresent):
      effects.endElements(tag, in: scope, isPresent: isPresent)
    case .absentChild: noteAbsentChild()
    case .dismiss: report(.dismissedWithoutParent)
    case .scoped(let key, let identity, let owner, let inner):
      let child = effects.scope(key, identity, in: scope, owner: owner)
      child.users += 1
      perform(inner, in: child)
      child.users -= 1
      effects.prune(child)
    case .many(let all): for effect in all { perform(effect, in: scope) }
    }
  }

  @inlinable
  func start(_ run: RunEffect<Action>, in scope: EffectScope) {
    guard startsEffects else { return }
    let effect = RunningTask(run, scope: scope, origin: origin, mailbox: mailbox)
    effects.register(effect, in: scope)
    let executor =
      run.onLane ? mailbox.lane.taskExecutor(named: run.name) : mailbox.lane.poolExecutor
    // Written here and not kept in a variable, which would put adapters around it. Without a name, which
    // costs a quarter of a task: the store knows it.
    let task = Task(executorPreference: executor, priority: run.priority) { await effect.perform() }
    effects.started(effect, task)
  }

  // MARK: Limits

  @usableFromInline
  func limit(_ limited: LimitedEffect<Action>, in scope: EffectScope) {
    guard startsEffects else { return }
    let found = effects.limiter(limited.id, scope: scope) {
      EffectLimiter<Action>(limited, scope: scope)
    }
    guard let limiter = found as? EffectLimiter<Action> else { return }
    limiter.adopt(limited.kind)
    if limiter.isDebounce { effects.cancelPassed(id: limiter.id, scope: scope) }
    if limiter.ids != limited.ids, limiter.keepsNewest {
      // The wait is found by the identifiers of what waits.
      if let waiting = limiter.waiting { effects.cancel(waiting.effect) }
      limiter.waiting = nil
    }
    if limiter.keepsNewest || limiter.waiting == nil { limiter.ids = limited.ids }
    var effect = limited.effect
    for id in limited.ids { effect = effect.marked(id) }
    follow(limiter.push(effect), of: limiter)
  }

  /// Performs what a limiter lets through, and waits for the rest.
  func follow(_ step: Step<Effect<Action>>, of limiter: EffectLimiter<Action>) {
    if let effect = step.output { perform(effect, in: limiter.scope) }
    guard let deadline = step.wake else { return }
    if let waiting = limiter.waiting, waiting.effect.scope != nil {
      if limiter.keepsNewest { effects.move(waiting.effect, to: origin) }
      // Woken too early it sleeps again: cheaper than a new task for each action.
      if waiting.deadline <= deadline { return }
      effects.cancel(waiting.effect)
    }
    let effect = RunningEffect(
      name: limiter.name, ids: limiter.ids, scope: limiter.scope, origin: origin,
      limiter: limiter)
    effects.register(effect, in: limiter.scope)
    limiter.waiting = (effect, deadline)
    let mailbox = mailbox
    let wait = limiter.makeWait(until: deadline)
    let executor = mailbox.lane.taskExecutor(named: limiter.name)
    let task = Task(executorPreference: executor) {
      do {
        try await wait()
        mailbox.post(.due(effect: effect))
      } catch {
        mailbox.post(.finished(effect: effect))
      }
    }
    effects.started(effect, task)
  }

  // MARK: Messages of effects

  @inlinable
  func receive(_ batch: ContiguousArray<Mailbox<Action>.Message>) {
    let actionsBefore = turn
    for message in batch {
      switch message {
      case .action(let action, let effect):
        if mayArrive(effect) { take(action, of: effect) }
      case .actions(let actions, let effect):
        // The first ones may cancel the effect, or remove its child: then the rest is dropped.
        for action in actions {
          guard mayArrive(effect) else { break }
          take(action, of: effect)
        }
      case .failed(let error, let effect):
        if effect.scope != nil { report(.uncaughtError(effect: effect.name, error)) }
      case .due(let effect): wake(effect)
      case .finished(let effect):
        effects.finished(effect)
      }
    }
    if case .immediate = notification { deliverChanges() }
    if turn != actionsBefore { onEffectActions?() }
  }

  @inlinable
  func take(_ action: Action, of effect: RunningEffect) {
    if let onEffectAction {
      onEffectAction(action)
    } else {
      enter(CollectionOfOne(action), origin: effect.origin)
    }
  }

  /// Whether what an effect sends is to be reduced: it runs, and the child that started it is there.
  @inlinable
  func mayArrive(_ effect: RunningEffect) -> Bool {
    guard let scope = effect.scope else {
      if !effect.isCancelled { report(.lateAction) }
      return false
    }
    return scope === effects.root || isCurrent(scope)
  }

  /// Whether the child that a scope belongs to is still there; if not, its effects end.
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

  @usableFromInline
  func wake(_ effect: RunningEffect) {
    defer { effects.finished(effect) }
    guard let limiter = effect.limiter as? EffectLimiter<Action>,
      isCurrent(limiter.scope)
    else { return }
    let origin = effect.origin
    // The effect that woke it does not wait any more: what it leads to needs a wait of its own.
    limiter.waiting = nil
    let step = limiter.wake()
    within(origin) { follow(step, of: limiter) }
    enter([], origin: origin)
  }

  /// Reduces without delivering: the batch delivers once.
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

  /// Effects that are started by `body` count as those of a tracked send.
  @inlinable
  func within(_ origin: UInt64, _ body: () -> Void) {
    let outer = self.origin
    self.origin = origin
    body()
    self.origin = outer
  }
}
