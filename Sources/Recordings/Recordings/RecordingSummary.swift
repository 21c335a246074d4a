package import LiveEvents

/// The properties of a recording, as users list them.
package struct RecordingSummary: Sendable, Equatable {
  package var name: String
  package var room: String
  package var state: RecordingState
  /// Why the recording failed, or what is damaged.
  package var reason: String?
  /// Milliseconds since 1970.
  package var startedAt: Int
  /// Milliseconds since 1970; `nil` while the recording is being written, or if its end is unknown.
  package var endedAt: Int?
  package var events: Int
  package var frames: Int
  package var bytes: Int
  /// The time from the first step to the last, in milliseconds of the room's time.
  package var durationMs: Int
  package var segments: Int
  /// The digest of the room's final state, if the recording contains every step up to it.
  package var digest: String?
}
