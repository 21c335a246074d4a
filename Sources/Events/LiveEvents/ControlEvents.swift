/// One step of a drag: a `begin`, any number of `change`s, an `end`.
public struct Slider: Sendable, Hashable {
  public enum Phase: String, Sendable, CaseIterable { case begin, change, end }

  public var control: Text
  public var phase: Phase
  /// From 0 to 1.
  public var value: Double

  public init(control: Text, phase: Phase, value: Double) {
    self.control = control
    self.phase = phase
    self.value = value
  }
}

/// State of the stream as its platform reports it.
public enum StreamState: String, Sendable, CaseIterable, Codable {
  case waiting, live, paused, ended
}

/// State of a recorder elsewhere.
public enum RecorderState: String, Sendable, CaseIterable, Codable {
  case idle, starting, recording, paused, stopping, failed
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

/// One sample of the encoder and the connection. A member that a source does not know is `nil`.
public struct StreamStatistics: Sendable, Hashable {
  public var bitrateKbps: Double?
  public var framesPerSecond: Double?
  /// Frames dropped since the stream began.
  public var droppedFrames: Int?
  public var roundTripMilliseconds: Double?
  /// From 0 (free) to 1 (nothing gets through).
  public var congestion: Double?

  public init(
    bitrateKbps: Double? = nil, framesPerSecond: Double? = nil, droppedFrames: Int? = nil,
    roundTripMilliseconds: Double? = nil, congestion: Double? = nil
  ) {
    self.bitrateKbps = bitrateKbps
    self.framesPerSecond = framesPerSecond
    self.droppedFrames = droppedFrames
    self.roundTripMilliseconds = roundTripMilliseconds
    self.congestion = congestion
  }
}
