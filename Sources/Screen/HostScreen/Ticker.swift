package import LiveEvents
package import RateLimiting

/// Says once a second of a room's time what the time of its events is by now.
package struct Ticker: Sendable, Codable {
  private static let interval = Interval.seconds(1)

  private struct Reading: Codable {
    let timestamp: Timestamp
    let at: Instant
  }

  private var newest: Reading?
  private var last = Instant.origin

  package init() {}

  /// Notes the time stamp of an event.
  package mutating func note(_ timestamp: Timestamp, at now: Instant) {
    if let newest, newest.timestamp >= timestamp { return }
    newest = Reading(timestamp: timestamp, at: now)
  }

  /// When the next tick is due; `nil` before the first event.
  package var next: Instant? { newest.map { _ in last + Self.interval } }

  /// The time of the events at `now`, if a tick is due.
  package mutating func tick(at now: Instant) -> Timestamp? {
    guard let next, now >= next else { return nil }
    last = now
    return time(at: now)
  }

  /// The time of the events at `now`; `nil` before the first event.
  package func time(at now: Instant) -> Timestamp? {
    newest.map { $0.timestamp + max(0, (now - $0.at).nanoseconds / 1_000_000) }
  }
}
