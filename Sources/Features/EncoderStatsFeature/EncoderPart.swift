package import LiveEvents
import RateLimiting

/// The statistics that one source reports.
package struct EncoderPart: Equatable, Sendable, Codable {
  package let origin: Origin
  /// The newest complete window.
  package internal(set) var window: StatisticsWindow?
  var figures: EncoderFigures
  /// The time of the newest tick when the last window closed, plus later pauses of the room, which
  /// do not count as silence.
  var heard: Timestamp
  /// Whether the source is silent. Its figures are shown only if all sources are silent.
  package internal(set) var isStale = false

  package var quality: StreamQuality { figures.levels.worst }

  func silence(at time: Timestamp) -> Int64 {
    let (silence, overflow) = time.subtractingReportingOverflow(heard)
    return overflow ? 0 : silence
  }
}

/// The quality of a source so far, and the figures with which its next window is compared.
struct EncoderFigures: Equatable, Sendable, Codable {
  var levels = QualityLevels()
  /// The best mean frame rate of any window.
  var bestFrameRate: Double = 0
  /// The total number of dropped frames at the end of the newest window that contains it.
  var droppedFrames: Double?

  mutating func assess(_ window: StatisticsWindow) {
    levels.update(congestion: window.congestion?.mean, roundTrip: window.roundTrip?.mean)
    if let rate = window.frameRate?.mean {
      bestFrameRate = max(bestFrameRate, rate)
      levels.update(frameShortfall: bestFrameRate > 0 ? 1 - rate / bestFrameRate : 0)
    }
    if let dropped = window.droppedFrames {
      // The counter of dropped frames has been running since the stream began, possibly before the
      // first sample. When the encoder restarts, the counter restarts at zero.
      levels.update(droppedFrames: max(0, dropped.last - (droppedFrames ?? dropped.minimum)))
      droppedFrames = dropped.last
    }
  }
}

extension StatisticsWindow {
  /// Adds the measurements that are missing from this window.
  mutating func fill(from other: StatisticsWindow) {
    bitrate = bitrate ?? other.bitrate
    frameRate = frameRate ?? other.frameRate
    droppedFrames = droppedFrames ?? other.droppedFrames
    roundTrip = roundTrip ?? other.roundTrip
    congestion = congestion ?? other.congestion
  }
}
