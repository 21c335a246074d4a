package import RateLimiting

/// How many attempts a platform allows in any span of a given length.
///
/// A value; the caller passes the time.
package struct AttemptBudget: Sendable {
  private let limit: Int
  private let window: Interval
  /// When the attempts of the window were made, oldest first.
  private var attempts: [Instant] = []

  /// - Parameters:
  ///   - limit: attempts in a window.
  ///   - window: its length.
  package init(limit: Int, window: Interval) {
    self.limit = limit
    self.window = window
  }

  /// Takes as many attempts as are allowed now, at most `count`. O(limit).
  package mutating func take(_ count: Int, at now: Instant) -> Int {
    attempts.removeAll { now - $0 >= window }
    let granted = min(count, limit - attempts.count)
    attempts.append(contentsOf: repeatElement(now, count: granted))
    return granted
  }

  /// When another attempt is allowed; in the past if one is allowed at once.
  package var nextAttempt: Instant {
    attempts.count < limit ? Instant(nanoseconds: .min) : attempts[0] + window
  }
}
