/// Computes when each line of a recording is due. Times are in nanoseconds; the caller chooses the
/// clock.
package struct Pacer: Sendable {
  private let factor: Double
  /// The timestamp from which later lines' offsets are counted, and the time at which the line with
  /// this timestamp was due.
  private var anchor: (timestamp: Int64, time: Int64)?
  private var last: Int64 = 0
  /// The longest gap between two timestamps that playback reproduces. It is one day, in
  /// milliseconds.
  private static let longestGap: Int64 = 86_400_000

  /// - Parameter factor: the speed relative to the recording; must be positive.
  package init(factor: Double) { self.factor = factor }

  /// Returns the time at which a line is due.
  ///
  /// A line is due immediately if it has no timestamp, or an earlier timestamp than the previous
  /// line, which is common in real chats. A line whose timestamp is more than ``longestGap`` later
  /// than the previous one is also due immediately, because either the sender's clock was wrong or
  /// nothing happened for days.
  package mutating func due(timestamp: Int64?, now: Int64) -> Int64 {
    guard let timestamp else { return now }
    defer { last = timestamp }
    guard let anchor, timestamp - last <= Self.longestGap else {
      anchor = (timestamp, now)
      return now
    }
    let offset = Double(timestamp - anchor.timestamp) * 1_000_000 / factor
    // Playing a recording of several days very slowly can take centuries, whose nanoseconds would
    // overflow `Int64`.
    guard offset < 3e18 else { return .max }
    return anchor.time + Int64(max(offset, 0))
  }
}
