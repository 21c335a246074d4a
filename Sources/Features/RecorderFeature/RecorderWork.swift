package import LiveEvents

/// The requested work of the room's own recorder, and the state of its attempts.
package struct RecorderWork: Equatable, Sendable, Codable {
  package var attempt = 0
  /// The request that is being attempted or will be repeated, if any.
  package var wish: RecorderWish?
  /// Whether failed attempts are repeated.
  package var retries = false
  package var isWaiting = false
  /// The number of consecutive failed attempts and recordings.
  package var failures = 0
  /// The reason why the last attempt or recording failed, until an attempt succeeds.
  package var failure: String?
  package var recording: String?

  package init() {}

  /// The wait before the next attempt, which grows with each failure up to a minute.
  package var delay: Duration { .seconds(failures > 6 ? 60 : 1 << max(0, failures - 1)) }

  /// The wait between the last failure and the next attempt, or `nil` if no attempt will follow.
  package var retryDelay: Duration? { isWaiting ? delay : nil }

  /// Returns whether the attempt with this number is in progress.
  package func isAttempting(_ number: Int) -> Bool {
    number == attempt && wish != nil && !isWaiting
  }
}

extension RecorderFeature.State {
  /// Returns whether the room's own recorder can accept this request now.
  package func accepts(_ wish: RecorderWish) -> Bool {
    let state = own?.state ?? .idle
    switch wish {
    case .start: return state == .idle || state == .failed || state == .stopping
    case .stop:
      return state == .starting || isOpen || state == .failed && work?.wish != nil
    // A recording that is being resumed counts as paused until the resumption has succeeded.
    case .pause: return state == .recording || state == .paused && work?.wish == .resume
    case .resume: return state == .paused
    }
  }

  private var isOpen: Bool { own?.isRecording ?? false }
}

extension RecorderWork: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(countable: attempt, failures, in: "attempt")
    // The system's reason, with a path.
    try require(failure?.utf8.count ?? 0 <= 8 << 10, "failure")
    try require(names: recording, in: "recording")
  }
}
