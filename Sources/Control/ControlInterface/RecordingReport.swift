/// What became of a recording.
public enum RecordingStateReport: String, Codable, Sendable, CaseIterable {
  case recording, finished, interrupted, failed, damaged
}

/// A recording of a room.
public struct RecordingReport: Codable, Sendable, Equatable {
  /// Its name.
  public var recording: String
  public var room: String
  public var state: RecordingStateReport
  /// Why it failed, or what is damaged.
  public var reason: String?
  /// Milliseconds since 1970.
  public var startedAt: Int
  /// Milliseconds since 1970; nil if nobody noted it.
  public var endedAt: Int?
  public var events: Int
  public var frames: Int
  public var bytes: Int
  /// From the first step to the last, in milliseconds.
  public var durationMs: Int
  public var segments: Int
  /// Stands for the state of the room at the end, if the recording holds all that led to it.
  public var digest: String?

  public init(
    recording: String, room: String, state: RecordingStateReport, reason: String?, startedAt: Int,
    endedAt: Int?, events: Int, frames: Int, bytes: Int, durationMs: Int, segments: Int,
    digest: String?
  ) {
    self.recording = recording
    self.room = room
    self.state = state
    self.reason = reason
    self.startedAt = startedAt
    self.endedAt = endedAt
    self.events = events
    self.frames = frames
    self.bytes = bytes
    self.durationMs = durationMs
    self.segments = segments
    self.digest = digest
  }
}

/// The reply of `ListRecordings`.
public struct ListRecordingsReply: Codable, Sendable, Equatable {
  public var recordings: [RecordingReport]

  public init(recordings: [RecordingReport]) { self.recordings = recordings }
}

struct ListRecordingsParameters: Codable, Sendable { let room: String? }

/// The reply of `StartRecording` and `StopRecording`.
struct RecordingReply: Codable, Sendable { let recording: RecordingReport }
