/// The quality of the connection from the encoder to the platform.
package enum StreamQuality: String, Comparable, Sendable, CaseIterable, Codable {
  case good, fair, poor

  /// Returns whether `left` is better.
  package static func < (left: StreamQuality, right: StreamQuality) -> Bool {
    left.rank < right.rank
  }

  private var rank: Int {
    switch self {
    case .good: 0
    case .fair: 1
    case .poor: 2
    }
  }
}

/// The measurement that limits the quality of a stream.
package enum StreamFault: String, Sendable, CaseIterable, Codable {
  case congestion
  case roundTrip = "round trip"
  case frameShortfall = "frame rate"
  case droppedFrames = "dropped frames"
}

/// The values at which a measurement becomes fair or poor, and at which it recovers.
///
/// A measurement enters a level at `enter`, and leaves it only below `leave`, so that the level
/// does not flicker when the value hovers around a limit.
package struct QualityThresholds: Equatable, Sendable {
  package struct Level: Equatable, Sendable {
    package var enter: Double
    package var leave: Double
  }

  package var fair: Level
  package var poor: Level

  /// Limits of the mean congestion, from 0 to 1.
  package static let congestion = QualityThresholds(
    fair: Level(enter: 0.20, leave: 0.10), poor: Level(enter: 0.50, leave: 0.40))
  /// Limits of the mean round trip in milliseconds. In a conversation, a delay of 150 ms is
  /// noticeable, and a delay of 400 ms is annoying (ITU-T G.114).
  package static let roundTrip = QualityThresholds(
    fair: Level(enter: 150, leave: 120), poor: Level(enter: 400, leave: 320))
  /// Limits of the number of dropped frames per window.
  package static let droppedFrames = QualityThresholds(
    fair: Level(enter: 3, leave: 1), poor: Level(enter: 15, leave: 8))
  /// Limits of the share of missing frames, compared with the best observed frame rate.
  package static let frameShortfall = QualityThresholds(
    fair: Level(enter: 0.15, leave: 0.10), poor: Level(enter: 0.40, leave: 0.30))

  /// Returns the level of `value` if the previous level is `current`. The level gets worse at
  /// `enter`, and better only below `leave`.
  package func quality(of value: Double, from current: StreamQuality) -> StreamQuality {
    if value >= (current == .poor ? poor.leave : poor.enter) { return .poor }
    if value >= (current == .good ? fair.enter : fair.leave) { return .fair }
    return .good
  }
}
