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
