package import RateLimiting

/// Detects that a peer is gone although its connection looks alive. TCP may need hours for that.
///
/// After some silence the peer is asked for a reply. A peer that does not reply in time counts as
/// gone. A value; the caller passes the time.
package struct Liveness: Sendable {
  package enum Verdict: Equatable, Sendable {
    /// Ask the peer for a reply.
    case ask
    /// The peer is gone.
    case dead
  }

  private enum State: Sendable {
    case hearing(last: Instant)
    case asked(Instant)
    /// Reading is paused, so nothing can be heard.
    case suspended
  }

  /// How long a peer may be silent before it is asked.
  package let silence: Interval
  /// How long the peer may take to reply. `nil` if the peer cannot be asked; it is then gone after
  /// the silence alone.
  package let patience: Interval?
  private var state: State

  package init(silence: Interval, patience: Interval?, at now: Instant) {
    self.silence = silence
    self.patience = patience
    state = .hearing(last: now)
  }

  /// Records that data has arrived from the peer.
  package mutating func heard(at now: Instant) {
    if case .suspended = state { return }
    state = .hearing(last: now)
  }

  /// Suspends or resumes the detection, because a source that does not read hears nothing.
  package mutating func suspend(_ isSuspended: Bool, at now: Instant) {
    state = isSuspended ? .suspended : .hearing(last: now)
  }

  /// The time at which to call ``wake(at:)``.
  package var deadline: Instant? {
    switch state {
    case .hearing(let last): last + silence
    case .asked(let time): time + (patience ?? .zero)
    case .suspended: nil
    }
  }

  /// Returns the next step, or `nil` before the deadline.
  package mutating func wake(at now: Instant) -> Verdict? {
    guard let deadline, now >= deadline else { return nil }
    guard case .hearing = state, patience != nil else { return .dead }
    state = .asked(now)
    return .ask
  }
}
