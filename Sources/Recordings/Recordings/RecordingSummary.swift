/// What is known of a recording.
package struct RecordingSummary: Sendable, Equatable {
  package enum State: String, Sendable, Codable, CaseIterable {
    /// It is being written.
    case recording
    /// It was stopped.
    case finished
    /// The program ended without stopping it. What had been acknowledged is there.
    case interrupted
    /// It could not go on; the reason says why.
    case failed
    /// A segment is not what was written; the reason says which.
    case damaged
  }

  package var name: String
  package var room: String
  package var state: State
  /// Why it failed, or what is damaged.
  package var reason: String?
  /// Milliseconds since 1970.
  package var startedAt: Int
  /// Milliseconds since 1970; `nil` while it is being written or if nobody noted it.
  package var endedAt: Int?
  package var events: Int
  package var frames: Int
  package var bytes: Int
  /// From the first step to the last in the room's time, in milliseconds.
  package var durationMs: Int
  package var segments: Int
  /// The state of the room at its end, if the recording holds all that led to it.
  package var digest: String?
}
