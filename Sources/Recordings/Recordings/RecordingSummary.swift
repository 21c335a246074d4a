package import LiveEvents

/// What is known about a recording.
package struct RecordingSummary: Sendable, Equatable {
  package var name: String
  package var room: String
  package var state: RecordingState
  /// Why it failed, or what is damaged.
  package var reason: String?
  /// Milliseconds since 1970.
  package var startedAt: Int
  /// Milliseconds since 1970; `nil` while it is being written, or if the end is unknown.
  package var endedAt: Int?
  package var events: Int
  package var frames: Int
  package var bytes: Int
  /// The time from the first step to the last, in milliseconds of the room's time.
  package var durationMs: Int
  package var segments: Int
  /// The digest of the room's state at the end, if the recording holds everything that led to it.
  package var digest: String?
}
