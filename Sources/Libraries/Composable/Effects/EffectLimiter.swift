import RateLimiting

/// A throttle or debounce for the effects of one identifier.
@usableFromInline
protocol Limiter: AnyObject {
  /// Whether the limiter holds nothing back and would treat the next effect exactly as a new
  /// limiter would.
  var isSpent: Bool { get }
  /// Drops the effect that is held back.
  func supersede()
}

/// The limiter of one identifier of one child: a throttle or a debounce, configured by the newest
/// effect. The types of `RateLimiting` are not used, because a sequence must know which effect was
/// dropped, and because intervals may be zero.
final class EffectLimiter<Action: Sendable>: Limiter {
  struct HeldEffect {
    let effect: Effect<Action>
    let marks: [EffectMark]
    /// The sequence that waits for the effect to end.
    let sequence: EffectSequence?
    let deadline: Instant
  }

  private var kind: LimitedEffect<Action>.Kind
  private let clock: LimitClock
  /// The end of the interval that began with the last effect that a throttle let through.
  private var restsUntil: Instant?
  unowned let scope: EffectScope
  let id: EffectID
  private(set) var held: HeldEffect?
  /// The running effect that waits for the deadline.
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

  enum Outcome {
    case passes(Effect<Action>)
    /// The effect waits for its deadline and replaces the effect that waited before.
    case isHeld(HeldEffect, insteadOf: HeldEffect?)
    /// The effect is dropped, because an earlier effect that is held back takes precedence.
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
    let new = HeldEffect(
      effect: effect, marks: limited.marks, sequence: sequence, deadline: deadline)
    held = new
    return .isHeld(new, insteadOf: old)
  }

  /// Returns the held effect if its deadline has passed, and removes it.
  func removeDue() -> HeldEffect? {
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

  func makeWait(until deadline: Instant) -> @Sendable () async throws -> Void {
    let clock = clock
    return { try await clock.sleep(deadline) }
  }
}
