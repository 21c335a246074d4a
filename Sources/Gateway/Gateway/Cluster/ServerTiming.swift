package import RateLimiting

/// Judges whether the servers answer in time, by a request that is repeated regularly.
///
/// A single late answer does not prove that the link is slow: two in a row do. One timely answer
/// ends that. The node's own work while the servers are fast may be what makes them slow. So each
/// time that they become slow again within a minute, twice as many timely answers are needed, up to
/// 32. A value.
package struct ServerTiming: Sendable {
  /// The answer time from which an answer counts as late.
  private let slow: Interval
  /// The time of the newest answer.
  package private(set) var newest = Interval.seconds(0)
  package private(set) var isSlow = false
  /// The number of late, or of timely, answers in a row.
  private var (late, timely) = (0, 0)
  /// When the servers last became slow.
  private var since: Instant?
  private var timelyNeeded = 1

  init(slow: Interval) { self.slow = slow }

  mutating func record(_ time: Interval, at now: Instant) {
    newest = time
    (late, timely) = time < slow ? (0, timely + 1) : (late + 1, 0)
    if late >= 2, !isSlow {
      let isAgain = since.map { now - $0 < .seconds(60) } ?? false
      timelyNeeded = isAgain ? min(timelyNeeded * 2, 32) : 1
      (isSlow, since) = (true, now)
    } else if timely >= timelyNeeded {
      isSlow = false
    }
  }
}
