package import RateLimiting

/// Whether servers answer in time, by how long they take for something that is asked again and again.
///
/// One late answer is no slow link, so it takes two in a row; and one in time to be quick again. What is done while they are
/// quick may be what makes them slow, so each time that this is so again within a minute, it takes twice as many.
package struct ServerTiming: Sendable {
  /// An answer that takes as long is late.
  private let slow: Interval
  /// How long the newest answer took.
  package private(set) var newest = Interval.seconds(0)
  package private(set) var isSlow = false
  /// How many answers in a row were late, or were not.
  private var (late, timely) = (0, 0)
  /// Since when they are slow, or were last.
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
