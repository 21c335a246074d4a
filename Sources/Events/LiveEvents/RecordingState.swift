/// The state of a room's recording.
public enum RecordingState: String, Sendable, Codable, CaseIterable {
  /// It is being written.
  case recording
  /// It was stopped.
  case finished
  /// The program ended without stopping it. All acknowledged events are stored.
  case interrupted
  /// It could not be continued; the reason is stored with it.
  case failed
  /// A segment differs from what was written; the reason names the segment.
  case damaged
}
