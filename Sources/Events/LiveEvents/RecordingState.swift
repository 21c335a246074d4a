/// What became of a recording of a room.
public enum RecordingState: String, Sendable, Codable, CaseIterable {
  /// It is being written.
  case recording
  /// It was stopped.
  case finished
  /// The program ended without stopping it. Everything acknowledged is there.
  case interrupted
  /// It could not be continued; the reason says why.
  case failed
  /// A segment differs from what was written; the reason says which.
  case damaged
}
