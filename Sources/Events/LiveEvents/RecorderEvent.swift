/// What a recorder elsewhere reports.
///
/// Each case names the native `type` that carries it.
public enum RecorderEvent: Sendable, Hashable {
  /// `recorder.state`
  case state(RecorderState)
  /// `recorder.progress`
  case progress(RecorderProgress)
}

/// State of a recorder elsewhere.
public enum RecorderState: String, Sendable, CaseIterable, Codable {
  case idle, starting, recording, paused, stopping, failed
}

/// What somebody wants a recorder to do.
public enum RecorderWish: String, Sendable, CaseIterable, Codable {
  case start, stop, pause, resume
}

/// How far a recorder is.
public struct RecorderProgress: Sendable, Hashable {
  public var bytes: Int
  public var durationMilliseconds: Int
  /// Steps done, of `total`, where the recorder knows them.
  public var done: Int?
  public var total: Int?

  public init(bytes: Int, durationMilliseconds: Int, done: Int? = nil, total: Int? = nil) {
    self.bytes = bytes
    self.durationMilliseconds = durationMilliseconds
    self.done = done
    self.total = total
  }
}
