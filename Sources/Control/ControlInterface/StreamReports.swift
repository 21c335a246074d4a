public import LiveEvents

/// Statistics of encoder and connection over the stream.
public struct LiveRoomStatsReport: Codable, Sendable, Equatable {
  public var last: StatisticsReport
  public var minimum: StatisticsReport
  public var maximum: StatisticsReport
  public var mean: StatisticsReport
  /// One word on the connection, such as good, fair or poor.
  public var quality: String
  /// The measurement that the quality follows; nil while it is good.
  public var fault: String?

  public init(
    last: StatisticsReport, minimum: StatisticsReport, maximum: StatisticsReport,
    mean: StatisticsReport, quality: String,
    fault: String? = nil
  ) {
    self.last = last
    self.minimum = minimum
    self.maximum = maximum
    self.mean = mean
    self.quality = quality
    self.fault = fault
  }
}

/// One sample of encoder and connection; nil is what the source does not report.
public struct StatisticsReport: Codable, Sendable, Equatable {
  public var bitrateKbps: Double?
  public var framesPerSecond: Double?
  /// Frames dropped since the stream began.
  public var droppedFrames: Double?
  public var roundTripMs: Double?
  /// From 0 (free) to 1 (nothing gets through).
  public var congestion: Double?

  public init(
    bitrateKbps: Double? = nil, framesPerSecond: Double? = nil, droppedFrames: Double? = nil,
    roundTripMs: Double? = nil, congestion: Double? = nil
  ) {
    self.bitrateKbps = bitrateKbps
    self.framesPerSecond = framesPerSecond
    self.droppedFrames = droppedFrames
    self.roundTripMs = roundTripMs
    self.congestion = congestion
  }
}

/// What is known of one recorder.
public struct SingleRecorderReport: Codable, Sendable, Equatable {
  public var state: RecorderState
  public var bytes: Int
  /// Time recorded, in milliseconds.
  public var durationMs: Int

  public init(state: RecorderState, bytes: Int, durationMs: Int) {
    self.state = state
    self.bytes = bytes
    self.durationMs = durationMs
  }
}

/// The recorder of a room: its own recording if there is one, else the recorder elsewhere.
public struct RecorderReport: Codable, Sendable, Equatable {
  public var state: RecorderState
  public var bytes: Int
  /// Time recorded, in milliseconds.
  public var durationMs: Int
  /// From 0 to 1; nil if the whole is not known.
  public var progress: Double?
  /// The room's own recording; nil if none was started.
  public var own: SingleRecorderReport?
  /// The recorder elsewhere that events tell of.
  public var elsewhere: SingleRecorderReport?

  public init(
    state: RecorderState = .idle, bytes: Int = 0, durationMs: Int = 0,
    progress: Double? = nil, own: SingleRecorderReport? = nil,
    elsewhere: SingleRecorderReport? = nil
  ) {
    self.state = state
    self.bytes = bytes
    self.durationMs = durationMs
    self.progress = progress
    self.own = own
    self.elsewhere = elsewhere
  }
}
