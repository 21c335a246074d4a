/// The state of a room's recording.
public enum RecordingState: String, Sendable, Codable, CaseIterable {
  case recording
  /// The recording was stopped.
  case finished
  /// The daemon ended without stopping the recording. All acknowledged events are stored.
  case interrupted
  /// The recording stopped because of an error. The reason is stored with it.
  case failed
  /// The content of a segment differs from what was written. The reason names the segment.
  case damaged
}
