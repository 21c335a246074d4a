package import RateLimiting

/// Limits the number of attempts in any span of a given length, as platforms require.
///
/// A value; the caller passes the time.
package struct AttemptBudget: Sendable {
  private let limit: Int
  private let window: Interval
  /// The times of the attempts in the current window, oldest first.
  private var attempts: [Instant] = []

  /// Creates an unused budget.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of attempts in a window.
  ///   - window: The length of the window.
  package init(limit: Int, window: Interval) {
    self.limit = limit
    self.window = window
  }

  /// Consumes up to `count` attempts, as many as are allowed now. Returns their number. O(limit).
  package mutating func consume(_ count: Int, at now: Instant) -> Int {
    attempts.removeAll { now - $0 >= window }
    let granted = min(count, limit - attempts.count)
    attempts.append(contentsOf: repeatElement(now, count: granted))
    return granted
  }

  /// The time at which the next attempt is allowed. It is in the past if one is allowed now.
  package var nextAttempt: Instant {
    attempts.count < limit ? Instant(nanoseconds: .min) : attempts[0] + window
  }
}
