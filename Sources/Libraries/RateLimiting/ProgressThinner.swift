/// Thins the progress reports of a long task: one delivery per whole percent, and the last value.
///
/// - **Total known** (`completed <= total`): A value is delivered if its whole percent exceeds the
///   percent delivered before, and always if it completes the task. A task has at most
///   ``deliveryLimit`` deliveries, regardless of its number of steps. A value within the same
///   percent is held until the next percent or the end, whichever comes first, and has no deadline.
///   Zero of zero is complete.
/// - **Total unknown**, or exceeded by `completed` and therefore not credible: The latest value
///   wins, with at most one delivery per interval.
/// - **A drop** of the percentage is accepted once it has lasted for an interval, because values
///   can arrive out of order. If `completed` dropped, or the task was complete, a new task begins
///   with a new limit. If the total grew, the task is the same and its limit continues to apply.
/// - **The end**: ``finish(at:)`` delivers the held value. The next value begins a new task.
///
/// A held value that is overwritten counts as coalesced, and so does a value that repeats the
/// delivered end.
///
/// - Complexity: every operation is O(1) and allocates nothing.
public struct ProgressThinner<Value>: RateLimiter {
  @usableFromInline enum State {
    case clear
    /// A value is held until the next percent or the end.
    case parked(Value, ProgressReading)
    /// A value is held until `until`, because the total is unknown or the percentage dropped.
    case timed(Value, ProgressReading, until: Instant)
  }

  /// The maximum number of deliveries for one task with a known total. Deliveries forced by
  /// `flush(at:)` count towards the limit, unless flushing alone exceeds the limit.
  @inlinable public static var deliveryLimit: Int { 100 }

  @usableFromInline var state = State.clear
  @usableFromInline var work = ProgressWork(limit: deliveryLimit)
  @usableFromInline var lastDelivery: Instant?

  /// The shortest time between two deliveries while the total is unknown, and the time after which
  /// a drop is accepted. A new interval applies starting with the next delivery.
  public var interval: Interval

  /// Makes a limiter. `interval` must be above zero.
  @inlinable public init(interval: Interval = .seconds(1)) {
    precondition(interval > .zero, "a window needs an interval above zero")
    self.interval = interval
  }

  @inlinable public var pending: Int {
    switch state {
    case .clear: 0
    case .parked, .timed: 1
    }
  }

  @inlinable public var deadline: Instant? {
    switch state {
    case .clear, .parked: nil
    case .timed(_, _, let until): until
    }
  }

  /// Delivers or holds a value that reports `completed` of `total` units. A nil total is unknown.
  @inlinable public mutating func push(
    _ value: Value, completed: UInt64, total: UInt64?, at now: Instant
  ) -> Step<Value> {
    let reading = ProgressReading(completed: completed, total: total)
    let held = pending
    switch work.verdict(on: reading, isHolding: held > 0) {
    case .deliver:
      return deliver(value, reading, at: now, coalesced: held)
    case .park:
      state = .parked(value, reading)
      return Step(coalesced: held)
    case .wait(let doubted):
      let until = deadline ?? opening(doubted: doubted, at: now)
      guard now < until else { return deliver(value, reading, at: now, coalesced: held) }
      state = .timed(value, reading, until: until)
      return Step(coalesced: held, wake: until)
    case .drop:
      return Step(coalesced: 1)
    }
  }

  @inlinable public mutating func wake(at now: Instant) -> Step<Value> {
    guard let deadline else { return Step() }
    guard deadline <= now else { return Step(wake: deadline) }
    return flush(at: now)
  }

  @inlinable public mutating func flush(at now: Instant) -> Step<Value> {
    switch state {
    case .clear: Step()
    case .parked(let value, let reading), .timed(let value, let reading, _):
      deliver(value, reading, at: now, coalesced: 0)
    }
  }

  /// Ends the task, whether it is complete or not, and delivers the held value. The next value
  /// begins a new task.
  @inlinable public mutating func finish(at now: Instant) -> Step<Value> {
    let step = flush(at: now)
    work = ProgressWork(limit: Self.deliveryLimit)
    return step
  }

  /// Drops the held value, because the caller delivers a newer value directly, for example at the
  /// end of the task. The dropped value counts as coalesced.
  @inlinable public mutating func supersede() -> Step<Value> {
    let held = pending
    state = .clear
    return Step(coalesced: held)
  }

  @inlinable mutating func deliver(
    _ value: Value, _ reading: ProgressReading, at now: Instant, coalesced: Int
  ) -> Step<Value> {
    work.recordDelivery(of: reading)
    lastDelivery = now
    state = .clear
    return Step(output: value, applied: 1, coalesced: coalesced)
  }

  @inlinable func opening(doubted: Bool, at now: Instant) -> Instant {
    // A doubtful value waits a whole interval from now. Any other value waits until an interval
    // after the last delivery.
    doubted ? now + interval : lastDelivery.map { $0 + interval } ?? now
  }
}

extension ProgressThinner: Sendable where Value: Sendable {}
extension ProgressThinner.State: Sendable where Value: Sendable {}
