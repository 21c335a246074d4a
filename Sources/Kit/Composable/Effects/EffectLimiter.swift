import RateLimiting

/// What lets some effects of one identifier through.
@usableFromInline
protocol Limiter: AnyObject {
  /// Whether it holds nothing back and would let the next effect through as a new one would.
  var isSpent: Bool { get }
  /// Forgets what it holds back.
  func supersede()
}

/// The limiter of one identifier of one child: a throttle or a debounce, as the newest effect wants it.
///
/// Written out here rather than made of the types of `RateLimiting`, since a sequence must learn which effect
/// was left out, and intervals may be zero.
final class EffectLimiter<Action: Sendable>: Limiter {
  /// An effect that is held back.
  struct Held {
    let effect: Effect<Action>
    let marks: [EffectMark]
    /// The sequence that waits for its end.
    let sequence: EffectSequence?
    let deadline: Instant
  }

  private var kind: LimitedEffect<Action>.Kind
  private let clock: LimitClock
  /// Until when what a throttle let through counts.
  private var restsUntil: Instant?
  unowned let scope: EffectScope
  let id: EffectID
  private(set) var held: Held?
  /// The effect that waits for a deadline, and that deadline.
  var waiting: (effect: RunningEffect, deadline: Instant)?

  init(_ limited: LimitedEffect<Action>, scope: EffectScope) {
    (id, kind, clock) = (limited.id, limited.kind, limited.clock)
    self.scope = scope
  }

  var isSpent: Bool { held == nil && !isResting(at: clock.now()) }

  func supersede() { held = nil }

  var name: String {
    switch kind {
    case .throttle: "throttle"
    case .debounce: "debounce"
    }
  }

  /// What becomes of an effect.
  enum Outcome {
    /// It happens now.
    case passes(Effect<Action>)
    /// It waits for its deadline, in the place of the one that waited before.
    case isHeld(Held, insteadOf: Held?)
    /// It gives way to the one that waits.
    case isLeftOut
  }

  func push(_ limited: LimitedEffect<Action>, _ sequence: EffectSequence?) -> Outcome {
    let now = clock.now()
    let effect = limited.marks.reduce(limited.effect) { $0.marked($1) }
    let (deadline, old) = (deadline(of: limited.kind, at: now), held)
    kind = limited.kind
    if case .throttle(let interval, let keepsLatest) = kind {
      if old == nil, !isResting(at: now) {
        restsUntil = now + Interval(interval)
        return .passes(effect)
      }
      if old != nil, !keepsLatest { return .isLeftOut }
    }
    let new = Held(effect: effect, marks: limited.marks, sequence: sequence, deadline: deadline)
    held = new
    return .isHeld(new, insteadOf: old)
  }

  /// The effect whose time has come.
  func takeDue() -> Held? {
    let now = clock.now()
    guard let held, held.deadline <= now else { return nil }
    self.held = nil
    if case .throttle(let interval, _) = kind { restsUntil = now + Interval(interval) }
    return held
  }

  private func deadline(of kind: LimitedEffect<Action>.Kind, at now: Instant) -> Instant {
    switch kind {
    case .throttle: max(now, restsUntil ?? now)
    case .debounce(let pause): now + Interval(pause)
    }
  }

  private func isResting(at now: Instant) -> Bool { restsUntil.map { $0 > now } ?? false }

  /// The wait for a deadline.
  func makeWait(until deadline: Instant) -> @Sendable () async throws -> Void {
    let clock = clock
    return { try await clock.sleep(deadline) }
  }
}
