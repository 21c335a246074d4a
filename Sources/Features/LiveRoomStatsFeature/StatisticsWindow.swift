package import RateLimiting

/// The summary of the samples in one window of time: last, count, sum, minimum and maximum of each
/// series.
///
/// A series is `nil` if no sample of the window had a value for it.
package struct StatisticsWindow: Equatable, Sendable, Codable {
  /// Kilobits per second.
  package var bitrate: Summary?
  /// Frames per second.
  package var frameRate: Summary?
  /// Frames dropped since the stream began.
  package var droppedFrames: Summary?
  /// Milliseconds.
  package var roundTrip: Summary?
  /// From 0 (none) to 1 (nothing gets through).
  package var congestion: Summary?
  /// Samples in the window.
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
