import RateLimiting

// Work that continues without an action: further parts of sequences, and held effects.
extension Store {
  // MARK: Sequences

  @usableFromInline
  func begin(_ effects: [Effect<Action>], in scope: EffectScope, _ parent: EffectSequence?) {
    let sequence = PendingEffects(effects, scope: scope, origin: origin, parent: parent)
    self.effects.begin(sequence)
    advance(sequence)
  }

  /// Performs the parts up to the first part that takes time. After the last part, continues the
  /// parent sequence.
  private func advance(_ first: EffectSequence) {
    var next: EffectSequence? = first
    while let sequence = next as? PendingEffects<Action> {
      guard let part = sequence.next() else {
        next = sequence.isOver ? nil : effects.complete(sequence)
        continue
      }
      sequence.pending += 1
      perform(part, in: sequence.scope, sequence)
      sequence.pending -= 1
      if sequence.pending > 0 { return }
    }
  }

  /// Begins the next part of a sequence, because the previous part has ended.
  @usableFromInline
  func continueSequence(_ sequence: EffectSequence) {
    guard isCurrent(sequence.scope) else { return effects.interrupt(sequence) }
    resume(sequence.origin) { advance(sequence) }
  }

  /// Performs effects in response to a message of an effect. Actions that the performed effects
  /// send are treated as actions of an effect.
  private func resume(_ origin: UInt64, _ body: () -> Void) {
    guard !isReducing else { return within(origin, body) }
    resumed = []
    within(origin, body)
    let sent = resumed ?? []
    resumed = nil
    for (action, scope) in sent {
      if !scope.isEnded, isCurrent(scope) { receive(action, origin: origin) }
      effects.release(scope)
    }
  }

  // MARK: Limits

  @usableFromInline
  func limit(
    _ limited: LimitedEffect<Action>, in scope: EffectScope, _ sequence: EffectSequence?
  ) {
    guard startsEffects else { return effects.interrupt(sequence) }
    let found = effects.limiter(limited.id, scope: scope) {
      EffectLimiter<Action>(limited, scope: scope)
    }
    guard let limiter = found as? EffectLimiter<Action> else { return }
    if case .debounce = limited.kind {
      effects.cancelPassed(limiter, id: limiter.id, scope: scope)
    }
    switch limiter.push(limited, sequence) {
    case .passes(let effect): perform(effect, in: scope, sequence)
    case .isLeftOut: effects.interrupt(sequence)
    case .isHeld(let held, let old):
      if let old { effects.interrupt(old.sequence) }
      wait(for: held, of: limiter)
    }
  }

  private func wait(for held: EffectLimiter<Action>.HeldEffect, of limiter: EffectLimiter<Action>) {
    if let (effect, deadline) = limiter.waiting, effect.scope != nil {
      // A task that wakes too early sleeps again, which is cheaper than a task per action.
      if effect.marks == held.marks, deadline <= held.deadline {
        effects.move(effect, to: origin, held.sequence)
        return
      }
      effects.cancel(effect)
    }
    let effect = RunningEffect(
      name: limiter.name, marks: held.marks, scope: limiter.scope, sequence: held.sequence,
      origin: origin, limiter: limiter)
    effects.register(effect, in: limiter.scope)
    limiter.waiting = (effect, held.deadline)
    let mailbox = mailbox
    let wait = limiter.makeWait(until: held.deadline)
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

  @usableFromInline
  func wake(_ effect: RunningEffect) {
    guard let limiter = effect.limiter as? EffectLimiter<Action>, isCurrent(limiter.scope) else {
      _ = effects.finished(effect)
      return
    }
    let (scope, origin, sequence) = (limiter.scope, effect.origin, effect.sequence)
    // The wait ends first, because the effect may cancel effects with the same identifiers.
    effects.retain(scope)
    effects.hold(origin)
    sequence?.pending += 1
    limiter.waiting = nil
    _ = effects.finished(effect)
    resume(origin) {
      if let due = limiter.removeDue() {
        perform(due.effect, in: scope, sequence)
      } else if let held = limiter.held {
        wait(for: held, of: limiter)
      }
      guard let sequence else { return }
      sequence.pending -= 1
      if sequence.pending == 0 { advance(sequence) }
    }
    effects.settle(origin)
    effects.release(scope)
  }
}
