/// A measurement of the encoder and its connection. Values that the source does not know are `nil`.
public struct StreamStatistics: Sendable, Hashable {
  public var bitrateKbps: Double?
  public var framesPerSecond: Double?
  /// The number of frames dropped since the stream began.
  public var droppedFrames: Int?
  public var roundTripMilliseconds: Double?
  /// The congestion, from 0 (none) to 1 (nothing gets through).
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
