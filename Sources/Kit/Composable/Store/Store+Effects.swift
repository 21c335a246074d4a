import RateLimiting

extension Store {
  /// Number of effects that run.
  public var runningEffects: Int { effects.count }

  /// Names of the effects that run, in the order in which they were started.
  public var runningEffectNames: [String] { effects.names }

  /// Cancels everything that runs. The store can go on.
  public func cancelEffects() { effects.cancelAll() }

  @inlinable
  func perform(_ effect: Effect<Action>) {
    // Most effects are one action to be sent.
    if case .send(let action)? = effect.box?.operation, effectActionSink == nil {
      queue.append(action)
    } else {
      perform(effect, path: [])
    }
  }

  @inlinable
  func perform(_ effect: Effect<Action>, path: [ScopeKey]) {
    switch effect.box?.operation {
    case nil: return
    case .send(let action):
      if let effectActionSink { effectActionSink(action) } else { queue.append(action) }
    case .run(let run): start(run, path: path)
    case .limit(let limited): limit(limited, path: path)
    case .cancel(let id): effects.cancel(id: id, path: path)
    case .endScope(let key): effects.endScope(path + [key])
    case .endElements(let tag, let tracker, let isPresent):
      tracker.mayRun = effects.endElements(tag, path: path, isPresent: isPresent)
    case .absentChild, .dismiss: noteAbsentChild()
    case .scoped(let key, let inner): perform(inner, path: path + [key])
    case .many(let all): for effect in all { perform(effect, path: path) }
    }
  }

  @inlinable
  func start(_ run: RunEffect<Action>, path: [ScopeKey]) {
    let number = effects.register(
      name: run.name, ids: run.ids, path: path, origin: origin, limiter: nil)
    let mailbox = mailbox
    let send = Send<Action>(
      postOne: { action in mailbox.post(.action(action, effect: number)) },
      postAll: { actions in mailbox.post(.actions(actions, effect: number)) })
    let work: @Sendable () async -> Void = {
      do {
        try await run.operation(send)
      } catch is CancellationError {
        // An effect that ends because it was cancelled did what it was told.
      } catch {
        if let handler = run.handler {
          await handler(error, send)
        } else {
          mailbox.post(.failed(error, effect: number))
        }
      }
      mailbox.post(.finished(effect: number))
    }
    let lane = mailbox.lane
    let executor = run.onLane ? lane.taskExecutor(named: run.name) : lane.poolExecutor
    let task = Task(
      name: run.name, executorPreference: executor, priority: run.priority, operation: work)
    effects.started(number, task)
  }

  // MARK: Limits

  @usableFromInline
  func limit(_ limited: LimitedEffect<Action>, path: [ScopeKey]) {
    let found = effects.limiter(limited.id, path: path) {
      EffectLimiter<Action>(limited, path: path)
    }
    guard let limiter = found as? EffectLimiter<Action> else { return }
    follow(limiter.push(limited.effect), of: limiter)
  }

  /// Performs what a limiter lets through, and waits for the rest.
  func follow(_ step: Step<Effect<Action>>, of limiter: EffectLimiter<Action>) {
    if let effect = step.output { perform(effect, path: limiter.path) }
    guard let deadline = step.wake else { return }
    if let waiting = limiter.waiting, effects.isRunning(waiting.effect) {
      // Woken too early it sleeps again: cheaper than a new task for each action.
      if waiting.deadline <= deadline { return }
      effects.cancel(waiting.effect)
    }
    let number = effects.register(
      name: limiter.name, ids: [limiter.id], path: limiter.path, origin: origin, limiter: limiter)
    limiter.waiting = (number, deadline)
    let mailbox = mailbox
    let wait = limiter.makeWait(until: deadline)
    let executor = mailbox.lane.taskExecutor(named: limiter.name)
    let task = Task(name: limiter.name, executorPreference: executor) {
      do {
        try await wait()
        mailbox.post(.due(effect: number))
      } catch {
        mailbox.post(.finished(effect: number))
      }
    }
    effects.started(number, task)
  }

  // MARK: Messages of effects

  @inlinable
  func receive(_ batch: ContiguousArray<Mailbox<Action>.Message>) {
    let actionsBefore = turn
    for message in batch {
      switch message {
      case .action(let action, let effect):
        if effects.isRunning(effect) {
          enter(CollectionOfOne(action), origin: effects.origin(of: effect))
        }
      case .actions(let actions, let effect):
        // What a cancelled effect still had under way is dropped with it.
        if effects.isRunning(effect) { enter(actions, origin: effects.origin(of: effect)) }
      case .failed(let error, let effect):
        if effects.isRunning(effect) {
          report(.uncaughtError(effect: effects.name(of: effect), error))
        }
      case .due(let effect): wake(effect)
      case .finished(let effect):
        effects.finished(effect)
      }
    }
    if case .immediate = notification { deliverChanges() }
    if turn != actionsBefore { onEffectActions?() }
  }

  @usableFromInline
  func wake(_ effect: UInt64) {
    guard let limiter = effects.limiter(of: effect) as? EffectLimiter<Action> else { return }
    let origin = effects.origin(of: effect)
    let step = limiter.wake()
    within(origin) { follow(step, of: limiter) }
    effects.finished(effect)
    enter([], origin: origin)
  }

  /// Reduces without delivering: the batch delivers once.
  @inlinable
  func enter(_ actions: some Sequence<Action>, origin: UInt64) {
    if let effectActionSink {
      for action in actions { effectActionSink(action) }
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
