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

extension Effect {
  /// Lets this effect happen at most once per interval: the first at once, of those that follow
  /// within the interval one at its end, the newest or the oldest.
  ///
  ///     case .scrolled: return .run { … }.throttle(id: "scrolled", for: .seconds(1), clock: clock)
  ///
  /// The store keeps the limit per `id` and child; it ends with the child that asked for it. An effect
  /// that was let through runs on while the next ones come. ``cancel(id:)`` ends what was let through
  /// and drops what is held back; the interval continues.
  /// - Parameter interval: zero or less lets every effect through at once.
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
  /// - Parameter pause: with zero or less the effect happens in the lane's next turn.
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
