package import RateLimiting

/// Schedules the attempts to reconnect: immediately, then after up to 1, 2, 4 ... 128 seconds.
///
/// Each wait is chosen uniformly between zero and its limit ("full jitter"), so that the many
/// clients of a failed server do not reconnect at the same moment.
package struct ReconnectPolicy: Sendable {
  /// The minimum age of a connection at which its data counts as useful. Otherwise a server that
  /// accepts, sends something and disconnects would be contacted without pause.
  package static let settling = Interval.seconds(5)

  private let longest: Interval
  /// The number of failed attempts since the last useful data.
  package private(set) var failures = 0

  /// - Parameter longest: The maximum wait.
  package init(longest: Interval = .seconds(128)) { self.longest = longest }

  /// Records that useful data has arrived at `now` on a connection made at `connected`.
  /// Establishing a connection alone does not count as useful.
  package mutating func receivedUsefulData(at now: Instant, connected: Instant) {
    if now - connected >= Self.settling { failures = 0 }
  }

  /// Records a failed attempt or a lost connection. Returns the time of the next attempt.
  package mutating func failed(
    at now: Instant, using generator: inout some RandomNumberGenerator
  ) -> Instant {
    defer { failures += 1 }
    guard failures > 0 else { return now }
    let limit = min(longest, .seconds(1 << Int64(min(failures - 1, 30))))
    return now + Interval(nanoseconds: .random(in: 0...limit.nanoseconds, using: &generator))
  }
}
