/// Reports of an external recorder. The native `type` of a case is `recorder.` followed by its
/// name.
public enum RecorderEvent: Sendable, Hashable {
  case state(RecorderState)
  case progress(RecorderProgress)
}

public enum RecorderState: String, Sendable, CaseIterable, Codable {
  case idle, starting, recording, paused, stopping, failed
}

public enum RecorderWish: String, Sendable, CaseIterable, Codable {
  case start, stop, pause, resume
}

public struct RecorderProgress: Sendable, Hashable {
  public var bytes: Int
  public var durationMilliseconds: Int
  /// The number of completed steps, if the recorder reports it. ``total`` is the number of all
  /// steps.
  public var done: Int?
  public var total: Int?

  public init(bytes: Int, durationMilliseconds: Int, done: Int? = nil, total: Int? = nil) {
    self.bytes = bytes
    self.durationMilliseconds = durationMilliseconds
    self.done = done
    self.total = total
  }
}
