import RateLimiting

/// An effect that is put off or left out while others like it come close behind.
@usableFromInline
struct LimitedEffect<Action: Sendable> {
  @usableFromInline
  enum Kind: Sendable {
    case throttle(Duration, keepsLatest: Bool)
    case debounce(Duration)
  }

  let id: EffectID
  let kind: Kind
  let clock: LimitClock
  @usableFromInline var effect: Effect<Action>
  /// Identifiers by which it can be cancelled: its own, and those that were put around it.
  @usableFromInline var ids: [EffectID]

  @usableFromInline
  init(
    id: EffectID, ids: [EffectID], kind: Kind, clock: LimitClock, effect: Effect<Action>
  ) {
    self.id = id
    self.ids = ids
    self.kind = kind
    self.clock = clock
    self.effect = effect
  }

  @usableFromInline
  func map<Parent: Sendable>(
    _ transform: @escaping (Action) -> Parent, dismiss: Dismissal<Parent>
  ) -> LimitedEffect<Parent> {
    let kind: LimitedEffect<Parent>.Kind =
      switch kind {
      case .throttle(let interval, let keepsLatest): .throttle(interval, keepsLatest: keepsLatest)
      case .debounce(let pause): .debounce(pause)
      }
    return LimitedEffect<Parent>(
      id: id, ids: ids, kind: kind, clock: clock,
      effect: effect.map(transform, dismiss: dismiss))
  }
}

/// A clock without its type: time since it was first asked.
@usableFromInline
struct LimitClock: Sendable {
  let now: @Sendable () -> Instant
  let sleep: @Sendable (Instant) async throws -> Void

  @usableFromInline
  init<C: Clock<Duration> & Sendable>(_ clock: C) {
    let origin = clock.now
    now = { Instant(nanoseconds: Interval(origin.duration(to: clock.now)).nanoseconds) }
    sleep = { instant in
      try await clock.sleep(
        until: origin.advanced(by: .nanoseconds(instant.nanoseconds)), tolerance: nil)
    }
  }
}

/// The limiter of one identifier of one child.
final class EffectLimiter<Action: Sendable>: Limiter {
  private enum Machine {
    case throttle(Throttle<Effect<Action>>)
    case debounce(Debounce<Effect<Action>>)
  }

  private var machine: Machine
  private let clock: LimitClock
  /// For how long what it let through counts, and until when.
  private var rest: Interval
  private var restsUntil: Instant?
  unowned let scope: EffectScope
  let id: EffectID
  /// Identifiers of the newest effect.
  var ids: [EffectID]
  /// The effect that waits for the next deadline, and that deadline.
  var waiting: (effect: RunningEffect, deadline: Instant)?

  init(_ limited: LimitedEffect<Action>, scope: EffectScope) {
    clock = limited.clock
    id = limited.id
    ids = limited.ids
    self.scope = scope
    switch limited.kind {
    case .throttle(let interval, let keepsLatest):
      rest = Interval(interval)
      machine = .throttle(Throttle(interval: rest, keeping: keepsLatest ? .latest : .first))
    case .debounce(let pause):
      rest = .zero
      machine = .debounce(Debounce(pause: Interval(pause)))
    }
  }

  var isSpent: Bool {
    let pending =
      switch machine {
      case .throttle(let throttle): throttle.pending
      case .debounce(let debounce): debounce.pending
      }
    return pending == 0 && restsUntil.map { $0 <= clock.now() } ?? true
  }

  /// Whether a newer effect takes the turn of those before it, even of those that run.
  var isDebounce: Bool {
    switch machine {
    case .throttle: false
    case .debounce: true
    }
  }

  /// Whether the newest effect is the one that is held back.
  var keepsNewest: Bool {
    switch machine {
    case .throttle(let throttle): throttle.keeping == .latest
    case .debounce: true
    }
  }

  func supersede() {
    switch machine {
    case .throttle(var throttle):
      _ = throttle.supersede()
      machine = .throttle(throttle)
    case .debounce(var debounce):
      _ = debounce.supersede()
      machine = .debounce(debounce)
    }
  }

  var name: String {
    switch machine {
    case .throttle: "throttle"
    case .debounce: "debounce"
    }
  }

  /// Takes the times of the newest effect.
  func adopt(_ kind: LimitedEffect<Action>.Kind) {
    switch (machine, kind) {
    case (.throttle(var throttle), .throttle(let interval, _)):
      rest = Interval(interval)
      throttle.interval = rest
      machine = .throttle(throttle)
    case (.debounce(var debounce), .debounce(let pause)):
      debounce.pause = Interval(pause)
      machine = .debounce(debounce)
    case (.throttle, .debounce), (.debounce, .throttle): break
    }
  }

  func push(_ effect: Effect<Action>) -> Step<Effect<Action>> {
    step { machine, now in
      switch machine {
      case .throttle(var throttle):
        let step = throttle.push(effect, at: now)
        machine = .throttle(throttle)
        return step
      case .debounce(var debounce):
        let step = debounce.push(effect, at: now)
        machine = .debounce(debounce)
        return step
      }
    }
  }

  func wake() -> Step<Effect<Action>> {
    step { machine, now in
      switch machine {
      case .throttle(var throttle):
        let step = throttle.wake(at: now)
        machine = .throttle(throttle)
        return step
      case .debounce(var debounce):
        let step = debounce.wake(at: now)
        machine = .debounce(debounce)
        return step
      }
    }
  }

  private func step(
    _ body: (inout Machine, Instant) -> Step<Effect<Action>>
  ) -> Step<Effect<Action>> {
    let now = clock.now()
    let step = body(&machine, now)
    if step.output != nil { restsUntil = now + rest }
    return step
  }

  /// The wait for a deadline.
  func makeWait(until deadline: Instant) -> @Sendable () async throws -> Void {
    let clock = clock
    return { try await clock.sleep(deadline) }
  }
}

extension Effect {
  /// Lets this effect happen at most once per interval: the first at once, of those that follow
  /// within the interval one at its end, the newest or the oldest.
  ///
  ///     case .scrolled: return .run { … }.throttle(id: "scrolled", for: .seconds(1), clock: clock)
  ///
  /// The store keeps the limit per `id` and child; it ends with the child that asked for it. An effect
  /// that was let through runs on while the next ones come. ``cancel(id:)`` ends what was let through
  /// and drops what is held back; the interval continues.
  public func throttle(
    id: some Hashable & Sendable, for interval: Duration,
    clock: some Clock<Duration> & Sendable, latest: Bool = true
  ) -> Effect {
    limited(id, .throttle(interval, keepsLatest: latest), clock)
  }

  /// Lets this effect happen once no other with the same `id` has come for a while; only the newest
  /// happens.
  ///
  ///     case .typed(let text):
  ///       return search(text).debounce(id: "search", for: .milliseconds(300), clock: clock)
  ///
  /// The next effect with the same `id`, and ``cancel(id:)``, end an earlier one that was let through
  /// and still runs: a stale answer does not arrive.
  public func debounce(
    id: some Hashable & Sendable, for pause: Duration, clock: some Clock<Duration> & Sendable
  ) -> Effect {
    limited(id, .debounce(pause), clock)
  }

  private func limited(
    _ id: some Hashable & Sendable, _ kind: LimitedEffect<Action>.Kind,
    _ clock: some Clock<Duration> & Sendable
  ) -> Effect {
    isNone
      ? self
      : Effect(
        operation: .limit(
          LimitedEffect(
            id: EffectID(id), ids: [EffectID(id)], kind: kind, clock: LimitClock(clock),
            effect: self)))
  }
}
