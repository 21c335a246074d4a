extension Store: MailboxReceiver {
  @usableFromInline
  func perform(_ effect: Effect<Action>) { perform(effect, path: []) }

  private func perform(_ effect: Effect<Action>, path: [ScopeKey]) {
    switch effect.box?.operation {
    case nil: return
    case .send(let action):
      if let effectActionSink { effectActionSink(action) } else { queue.append(action) }
    case .run(let run): start(run, path: path)
    case .cancel(let id): effects.cancel(id: id, path: path)
    case .endScope(let key): effects.endScope(path + [key])
    case .absentChild: noteAbsentChild()
    case .scoped(let key, let inner): perform(inner, path: path + [key])
    case .many(let all): for effect in all { perform(effect, path: path) }
    }
  }

  private func start(_ run: RunEffect<Action>, path: [ScopeKey]) {
    let number = effects.register(name: run.name, ids: run.ids, path: path)
    let mailbox = mailbox
    let send = Send<Action> { actions in mailbox.post(.actions(actions, effect: number)) }
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
    let executor = run.onLane ? mailbox.lane.taskExecutor : mailbox.lane.poolExecutor
    let task = Task(
      name: run.name, executorPreference: executor, priority: run.priority, operation: work)
    effects.started(number, task)
  }

  @usableFromInline
  func receive(_ batch: ContiguousArray<Mailbox<Action>.Message>) {
    for message in batch {
      switch message {
      case .actions(let actions, let effect):
        // What a cancelled effect still had under way is dropped with it.
        if effects.isRunning(effect) { enter(actions) }
      case .failed(let error, let effect):
        if effects.isRunning(effect) {
          report(.uncaughtError(effect: effects.name(of: effect), error))
        }
      case .finished(let effect):
        effects.finished(effect)
      }
    }
    if case .immediate = notification { deliverChanges() }
  }

  /// Reduces without delivering: the batch delivers once.
  private func enter(_ actions: [Action]) {
    if let effectActionSink {
      for action in actions { effectActionSink(action) }
      return
    }
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
  }

  /// Cancels everything that runs. The store can go on.
  public func cancelEffects() { effects.cancelAll() }

  /// Names of the effects that run, in the order in which they were started.
  public var runningEffectNames: [String] { effects.names }

  /// How many effects were started so far; the number of the last one.
  package var lastEffect: UInt64 { effects.last }
  package func isEffectRunning(_ number: UInt64) -> Bool { effects.isRunning(number) }
  package func cancelEffect(_ number: UInt64) { effects.cancel(number) }
}
