package import RateLimiting

/// Decides whether the servers are slow, from the answer times of a request that is repeated
/// regularly.
///
/// Two late answers in a row mean that the servers are slow, because a single one may be a
/// coincidence. One timely answer shows that they are fast again. The servers may become slow only
/// because this node resumes its work whenever they are fast. Therefore, each time they become slow
/// again within a minute, the number of timely answers needed doubles, up to 32.
package struct ServerTiming: Sendable {
  /// An answer counts as late if it takes at least this long.
  private let slow: Interval
  /// The time of the newest answer.
  package private(set) var newest = Interval.seconds(0)
  package private(set) var isSlow = false
  /// The number of late answers in a row, and of timely answers in a row.
  private var (late, timely) = (0, 0)
  /// The time at which the servers last became slow.
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
