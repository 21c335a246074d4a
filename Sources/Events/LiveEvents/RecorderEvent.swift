/// Reports of an external recorder.
///
/// Each case names its native `type`.
public enum RecorderEvent: Sendable, Hashable {
  /// `recorder.state`
  case state(RecorderState)
  /// `recorder.progress`
  case progress(RecorderProgress)
}

/// The state of a recorder.
public enum RecorderState: String, Sendable, CaseIterable, Codable {
  case idle, starting, recording, paused, stopping, failed
}

/// A request to a recorder.
public enum RecorderWish: String, Sendable, CaseIterable, Codable {
  case start, stop, pause, resume
}

/// The progress of a recorder.
public struct RecorderProgress: Sendable, Hashable {
  public var bytes: Int
  public var durationMilliseconds: Int
  /// The completed steps of `total`, if the recorder reports them.
  public var done: Int?
  public var total: Int?

  public init(bytes: Int, durationMilliseconds: Int, done: Int? = nil, total: Int? = nil) {
    self.bytes = bytes
    self.durationMilliseconds = durationMilliseconds
    self.done = done
    self.total = total
  }
}
