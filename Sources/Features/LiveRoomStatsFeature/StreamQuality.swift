/// How well the stream gets through to the platform.
package enum StreamQuality: String, Comparable, Sendable, CaseIterable, Codable {
  case good, fair, poor

  /// The better one is smaller.
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

/// What keeps a stream from getting through well.
package enum StreamFault: String, Sendable, CaseIterable, Codable {
  case congestion
  case roundTrip = "round trip"
  case frameShortfall = "frame rate"
  case droppedFrames = "dropped frames"
}

/// The values at which a measurement becomes fair or poor, and at which it recovers.
///
/// Each level has two limits, so that the level does not flicker with a value that hovers around
/// one of them: it is entered at `enter` and left only below `leave`.
package struct QualityThresholds: Equatable, Sendable {
  package struct Level: Equatable, Sendable {
    package var enter: Double
    package var leave: Double
  }

  package var fair: Level
  package var poor: Level

  /// Mean congestion, from 0 to 1.
  package static let congestion = QualityThresholds(
    fair: Level(enter: 0.20, leave: 0.10), poor: Level(enter: 0.50, leave: 0.40))
  /// Mean round trip in milliseconds: the delay of a conversation is noticeable from 150 on, and
  /// annoying from 400 on (ITU-T G.114).
  package static let roundTrip = QualityThresholds(
    fair: Level(enter: 150, leave: 120), poor: Level(enter: 400, leave: 320))
  /// Frames dropped per window.
  package static let droppedFrames = QualityThresholds(
    fair: Level(enter: 3, leave: 1), poor: Level(enter: 15, leave: 8))
  /// The share of frames missing compared with the best frame rate seen.
  package static let frameShortfall = QualityThresholds(
    fair: Level(enter: 0.15, leave: 0.10), poor: Level(enter: 0.40, leave: 0.30))

  /// The level of `value` if the level so far is `current`: it gets worse at `enter` and better
  /// only below `leave`.
  package func quality(of value: Double, from current: StreamQuality) -> StreamQuality {
    if value >= (current == .poor ? poor.leave : poor.enter) { return .poor }
    if value >= (current == .good ? fair.enter : fair.leave) { return .fair }
    return .good
  }
}
