/// Computes when each line of a recording is due. Times are nanoseconds on any clock that the
/// caller chooses.
package struct Pacer: Sendable {
  private let factor: Double
  /// The timestamp that offsets are relative to, and the time at which its line was due.
  private var anchor: (timestamp: Int64, time: Int64)?
  private var last: Int64 = 0
  /// The longest gap between two timestamps that is reproduced: a day, in milliseconds.
  private static let longestGap: Int64 = 86_400_000

  /// - Parameter factor: the speed relative to the recording; must be positive.
  package init(factor: Double) { self.factor = factor }

  /// Returns the time at which a line is due.
  ///
  /// A line is due immediately if it has no timestamp or an earlier one than the line before, which
  /// is common in real chat. A line more than ``longestGap`` after the previous one is also due
  /// immediately: either its clock was wrong or the recording was silent for days.
  package mutating func due(timestamp: Int64?, now: Int64) -> Int64 {
    guard let timestamp else { return now }
    defer { last = timestamp }
    guard let anchor, timestamp - last <= Self.longestGap else {
      anchor = (timestamp, now)
      return now
    }
    let offset = Double(timestamp - anchor.timestamp) * 1_000_000 / factor
    // A slowed-down recording of several days can last over a century, which would overflow
    // `Int64`.
    guard offset < 3e18 else { return .max }
    return anchor.time + Int64(max(offset, 0))
  }
}
