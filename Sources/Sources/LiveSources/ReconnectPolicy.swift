package import RateLimiting

/// Decides when a lost connection is tried again: at once, then after up to 1, 2, 4 ... 128 seconds.
///
/// Each wait is chosen evenly between nothing and its limit ("full jitter"), so that the many clients of a
/// server that went away do not all come back at the same moment. A value; the caller passes the time and
/// the generator.
package struct ReconnectPolicy: Sendable {
  /// How old a connection must be for its data to count: a server that accepts, says something and hangs
  /// up would otherwise be called without pause.
  package static let settling = Interval.seconds(5)

  private let longest: Interval
  /// How many attempts have failed since there was useful data.
  package private(set) var failures = 0

  /// - Parameter longest: the longest limit of a wait.
  package init(longest: Interval = .seconds(128)) { self.longest = longest }

  /// What the connection is for has arrived on one that was made at `connected`. A connection that was
  /// merely made is no reason to call this.
  package mutating func receivedUsefulData(at now: Instant, connected: Instant) {
    if now - connected >= Self.settling { failures = 0 }
  }

  /// An attempt failed or a connection was lost. Gives the time of the next attempt.
  package mutating func failed(
    at now: Instant, using generator: inout some RandomNumberGenerator
  ) -> Instant {
    defer { failures += 1 }
    guard failures > 0 else { return now }
    let limit = min(longest, .seconds(1 << Int64(min(failures - 1, 30))))
    return now + Interval(nanoseconds: .random(in: 0...limit.nanoseconds, using: &generator))
  }
}
