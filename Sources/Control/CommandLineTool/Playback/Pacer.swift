/// Determines when each line of a recording is due. Time is passed in, as nanoseconds of any clock.
package struct Pacer: Sendable {
  private let factor: Double
  /// The first time stamp, and when its line was played.
  private var anchor: (timestamp: Int64, time: Int64)?
  /// The time stamp of the line before.
  private var last: Int64 = 0
  /// A day, in milliseconds.
  private static let longestGap: Int64 = 86_400_000

  /// - Parameter factor: the speed relative to the recording; more than 0.
  package init(factor: Double) { self.factor = factor }

  /// When a line is due. A line without a time stamp is due immediately.
  ///
  /// Lines stay in order: a line whose time stamp is older than that of a line before it, which is
  /// common in real chat, is due immediately as well. So is one that is more than ``longestGap`` after the line before:
  /// its clock was wrong, or the recording has days without a line, and nobody waits for either.
  package mutating func due(timestamp: Int64?, now: Int64) -> Int64 {
    guard let timestamp else { return now }
    defer { last = timestamp }
    guard let anchor, timestamp - last <= Self.longestGap else {
      anchor = (timestamp, now)
      return now
    }
    let offset = Double(timestamp - anchor.timestamp) * 1_000_000 / factor
    // Slowed down, a recording of days may take longer than a century, and the time would overflow.
    guard offset < 3e18 else { return .max }
    return anchor.time + Int64(max(offset, 0))
  }
}
