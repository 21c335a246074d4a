package import RateLimiting

/// Detects that a peer is gone. TCP may need hours to detect this. Asks a silent peer for a reply,
/// and considers it gone if none arrives in time.
package struct Liveness: Sendable {
  package enum Verdict: Equatable, Sendable {
    case ask
    case dead
  }

  private enum State: Sendable {
    case hearing(last: Instant)
    case probed(Instant)
    case suspended
  }

  /// How long a peer may be silent before it is asked for a reply.
  package let silence: Interval
  /// How long a peer may take to reply. `nil` if the peer cannot be asked; it then counts as gone
  /// after ``silence``.
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

  /// Suspends or resumes the detection. The source must suspend it while reading is paused, because
  /// nothing arrives then.
  package mutating func suspend(_ isSuspended: Bool, at now: Instant) {
    state = isSuspended ? .suspended : .hearing(last: now)
  }

  /// The time at which to call ``wake(at:)``.
  package var deadline: Instant? {
    switch state {
    case .hearing(let last): last + silence
    case .probed(let time): time + (patience ?? .zero)
    case .suspended: nil
    }
  }

  /// Returns whether to ask the peer or to consider it gone, or `nil` before the deadline.
  package mutating func wake(at now: Instant) -> Verdict? {
    guard let deadline, now >= deadline else { return nil }
    guard case .hearing = state, patience != nil else { return .dead }
    state = .probed(now)
    return .ask
  }
}
