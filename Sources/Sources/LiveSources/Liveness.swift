package import RateLimiting

/// Notices that a peer is gone although its connection looks alive, which TCP may not for hours.
///
/// After some silence the peer is asked something; without any sign of life in time it counts as gone. A
/// value; the caller passes the time.
package struct Liveness: Sendable {
  package enum Verdict: Equatable, Sendable {
    /// Ask it for a sign of life.
    case ask
    /// It is gone.
    case dead
  }

  private enum State: Sendable {
    case hearing(last: Instant)
    case asked(Instant)
    /// Nothing is read, so nothing can be heard.
    case suspended
  }

  /// How long a peer may be silent before it is asked.
  package let silence: Interval
  /// How long its answer may take; `nil` for a peer that cannot be asked: silence alone is its end.
  package let patience: Interval?
  private var state: State

  package init(silence: Interval, patience: Interval?, at now: Instant) {
    self.silence = silence
    self.patience = patience
    state = .hearing(last: now)
  }

  /// Anything has arrived from the peer.
  package mutating func heard(at now: Instant) {
    if case .suspended = state { return }
    state = .hearing(last: now)
  }

  /// Stops or resumes listening: a source that does not read hears nothing.
  package mutating func suspend(_ isSuspended: Bool, at now: Instant) {
    state = isSuspended ? .suspended : .hearing(last: now)
  }

  /// When to call ``wake(at:)``.
  package var deadline: Instant? {
    switch state {
    case .hearing(let last): last + silence
    case .asked(let time): time + (patience ?? .zero)
    case .suspended: nil
    }
  }

  /// What to do now; `nil` before the deadline.
  package mutating func wake(at now: Instant) -> Verdict? {
    guard let deadline, now >= deadline else { return nil }
    guard case .hearing = state, patience != nil else { return .dead }
    state = .asked(now)
    return .ask
  }
}
