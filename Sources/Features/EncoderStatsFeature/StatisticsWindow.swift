package import RateLimiting

/// The summary of a window's samples: the last value, count, sum, minimum, and maximum of each
/// series. `nil` for a series without values.
package struct StatisticsWindow: Equatable, Sendable, Codable {
  /// The bitrate in kilobits per second.
  package var bitrate: Summary?
  /// The frame rate in frames per second.
  package var frameRate: Summary?
  /// The number of frames dropped since the stream began.
  package var droppedFrames: Summary?
  /// The round trip time in milliseconds.
  package var roundTrip: Summary?
  /// The congestion, from 0 (none) to 1 (nothing gets through).
  package var congestion: Summary?
  package var samples: Int

  package init(
    bitrate: Summary? = nil, frameRate: Summary? = nil, droppedFrames: Summary? = nil,
    roundTrip: Summary? = nil, congestion: Summary? = nil, samples: Int
  ) {
    self.bitrate = bitrate
    self.frameRate = frameRate
    self.droppedFrames = droppedFrames
    self.roundTrip = roundTrip
    self.congestion = congestion
    self.samples = samples
  }
}
