/// When each line of a recording is due. Time is passed in, in nanoseconds of any clock.
package struct Pacer: Sendable {
  private let factor: Double
  /// The first time stamp, and when its line was played.
  private var anchor: (timestamp: Int64, time: Int64)?

  /// - Parameter factor: So many times as fast as the recording; more than 0.
  package init(factor: Double) { self.factor = factor }

  /// When a line is due; lines without a time stamp follow the line before at once.
  ///
  /// Lines stay in their order: one whose time stamp is older than that of a line before it, as is
  /// common in real chat, is due already.
  package mutating func due(timestamp: Int64?, now: Int64) -> Int64 {
    guard let timestamp else { return now }
    guard let anchor else {
      anchor = (timestamp, now)
      return now
    }
    let offset = Double(timestamp - anchor.timestamp) * 1_000_000 / factor
    // Beyond a century the arithmetic would be the limit, not the patience.
    guard offset < 3e18 else { return .max }
    return anchor.time + Int64(max(offset, 0))
  }
}
