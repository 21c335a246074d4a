package import RateLimiting

/// Limits the number of attempts in any span of a given length, as platforms require.
package struct AttemptBudget: Sendable {
  private let limit: Int
  private let window: Interval
  /// The times of the attempts in the current window, oldest first.
  private var attempts: [Instant] = []

  /// Allows at most `limit` attempts in any span of length `window`.
  package init(limit: Int, window: Interval) {
    self.limit = limit
    self.window = window
  }

  /// Consumes up to `count` attempts, as many as the limit allows at `now`. Returns the number of
  /// attempts. Takes O(limit).
  package mutating func consume(_ count: Int, at now: Instant) -> Int {
    attempts.removeAll { now - $0 >= window }
    let granted = min(count, limit - attempts.count)
    attempts.append(contentsOf: repeatElement(now, count: granted))
    return granted
  }

  /// The earliest time at which the next attempt is allowed.
  package var nextAttempt: Instant {
    attempts.count < limit ? Instant(nanoseconds: .min) : attempts[0] + window
  }
}
