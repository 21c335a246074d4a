package import LiveEvents

/// What is wanted of the room's own recorder, and how the attempts go.
package struct RecorderWork: Equatable, Sendable, Codable {
  /// The number of the newest attempt.
  package var attempt = 0
  /// What is being attempted, or will be again; `nil` if nothing is.
  package var wish: RecorderWish?
  /// Whether an attempt that fails is followed by another one.
  package var retries = false
  /// Whether the next attempt is waited for.
  package var isWaiting = false
  /// How many attempts and recordings failed in a row.
  package var failures = 0
  /// Why the last attempt or the recording failed, until something works.
  package var failure: String?
  /// The name of the newest recording.
  package var recording: String?

  package init() {}

  /// How long the next attempt is waited for: longer with each failure, up to a minute.
  package var delay: Duration { .seconds(failures > 6 ? 60 : 1 << max(0, failures - 1)) }

  /// When something failed, how long after that it is tried again; `nil` if it is not.
  package var retryDelay: Duration? { isWaiting ? delay : nil }

  /// Whether this attempt is under way.
  package func isAttempting(_ number: Int) -> Bool {
    number == attempt && wish != nil && !isWaiting
  }
}

extension RecorderFeature.State {
  /// Whether the room's own recorder can do this as things are.
  package func accepts(_ wish: RecorderWish) -> Bool {
    let state = own?.state ?? .idle
    switch wish {
    case .start: return state == .idle || state == .failed || state == .stopping
    case .stop:
      return state == .starting || isOpen || state == .failed && work?.wish != nil
    // One that is being continued is paused until then.
    case .pause: return state == .recording || state == .paused && work?.wish == .resume
    case .resume: return state == .paused
    }
  }

  /// Whether there is a recording that can be closed.
  private var isOpen: Bool { own?.isRecording ?? false }
}
