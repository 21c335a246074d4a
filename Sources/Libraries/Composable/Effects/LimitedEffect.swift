import RateLimiting

/// An effect that a throttle or debounce may delay or drop.
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
  /// The identifiers that cancel the effect: the identifier of the limiter, and those set by
  /// `cancellable(id:)`.
  @usableFromInline var marks: [EffectMark]

  @usableFromInline
  init(
    id: EffectID, marks: [EffectMark], kind: Kind, clock: LimitClock, effect: Effect<Action>
  ) {
    self.id = id
    self.marks = marks
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
      id: id, marks: marks, kind: kind, clock: clock,
      effect: effect.map(transform, dismiss: dismiss))
  }
}

/// A type-erased clock that measures the time since it was made.
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

extension Effect {
  /// Runs this effect at most once per interval. The first effect runs immediately. Of the effects
  /// that follow within the interval, the newest (or the oldest) runs when the interval ends.
  ///
  ///     case .scrolled: return .run { … }.throttle(id: "scrolled", for: .seconds(1), clock: clock)
  ///
  /// The store keeps one throttle per `id` and child, which ends with the child. Later effects do
  /// not end an effect that has started. ``cancel(id:)`` cancels running effects and drops the
  /// effect that is held back, but the interval continues.
  /// - Parameter interval: The interval; if zero or less, every effect runs immediately.
  public func throttle(
    id: some Hashable & Sendable, for interval: Duration,
    clock: some Clock<Duration> & Sendable, latest: Bool = true
  ) -> Effect {
    limited(id, .throttle(interval, keepsLatest: latest), clock)
  }

  /// Runs this effect when no other effect with the same `id` has followed for the given time, so
  /// that only the newest effect runs.
  ///
  ///     case .typed(let text):
  ///       return search(text).debounce(id: "search", for: .milliseconds(300), clock: clock)
  ///
  /// The next effect with the same `id`, or ``cancel(id:)``, cancels an earlier effect that has
  /// started and is still running, so stale results are not delivered.
  /// - Parameter pause: The time to wait; if zero or less, the effect runs in the lane's next turn.
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
            id: EffectID(id), marks: [EffectMark(EffectID(id))], kind: kind,
            clock: LimitClock(clock),
            effect: self)))
  }
}
