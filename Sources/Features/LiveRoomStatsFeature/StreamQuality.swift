/// How well the stream gets through.
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

/// Where a measurement turns fair and poor, and where it turns back.
///
/// Two limits per level keep a value that trembles around one of them from flickering: a level is
/// entered at `enter` and left only below `leave`.
package struct QualityThresholds: Equatable, Sendable {
  package struct Level: Equatable, Sendable {
    package var enter: Double
    package var leave: Double
  }

  package var fair: Level
  package var poor: Level

  /// Mean share of congestion.
  package static let congestion = QualityThresholds(
    fair: Level(enter: 0.20, leave: 0.10), poor: Level(enter: 0.50, leave: 0.40))
  /// Mean round trip in milliseconds: talk lags noticeably from 150, and hurts from 400
  /// (ITU-T G.114).
  package static let roundTrip = QualityThresholds(
    fair: Level(enter: 150, leave: 120), poor: Level(enter: 400, leave: 320))
  /// Frames dropped per window.
  package static let droppedFrames = QualityThresholds(
    fair: Level(enter: 3, leave: 1), poor: Level(enter: 15, leave: 8))
  /// Share of frames missing against the best rate seen.
  package static let frameShortfall = QualityThresholds(
    fair: Level(enter: 0.15, leave: 0.10), poor: Level(enter: 0.40, leave: 0.30))

  /// The level of `value`, coming from `current`. Worse at once, better only below `leave`.
  package func quality(of value: Double, from current: StreamQuality) -> StreamQuality {
    if value >= (current == .poor ? poor.leave : poor.enter) { return .poor }
    if value >= (current == .good ? fair.enter : fair.leave) { return .fair }
    return .good
  }
}
