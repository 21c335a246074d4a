package import LiveEvents
package import RateLimiting

/// Provides the time of a room's events, once per second of the room's time.
package struct Ticker: Sendable, Codable {
  private static let interval = Interval.seconds(1)
  /// The maximum lateness of a timestamp in milliseconds. If more than ``patience`` consecutive
  /// timestamps exceed this lateness, the newest timestamp was wrong, or the source's clock was set
  /// back.
  private static let horizon: Timestamp = 10_000
  private static let patience = 100

  private struct Reading: Codable {
    let timestamp: Timestamp
    let at: Instant
  }

  private var newest: Reading?
  private var last = Instant.origin
  private var late = 0

  package init() {}

  private enum CodingKeys: CodingKey { case newest, last }

  package mutating func setTime(_ timestamp: Timestamp, at now: Instant) {
    if let newest, newest.timestamp >= timestamp {
      late = timestamp < newest.timestamp - Self.horizon ? late + 1 : 0
      if late <= Self.patience { return }
    } else if newest == nil {
      // Seconds count from the first event and not from the room's creation. The same events
      // therefore cause the same ticks at any time, including in replays.
      last = now
    }
    late = 0
    newest = Reading(timestamp: timestamp, at: now)
  }

  /// The time of the next tick, or `nil` before the first event.
  package var next: Instant? { newest.map { _ in last + Self.interval } }

  /// Returns the time of the events at `now` if a tick is due.
  package mutating func tick(at now: Instant) -> Timestamp? {
    guard let next, now >= next else { return nil }
    last = now
    return time(at: now)
  }

  /// Returns the time of the events at `now`, or `nil` before the first event.
  package func time(at now: Instant) -> Timestamp? {
    newest.map { $0.timestamp + max(0, (now - $0.at).nanoseconds / 1_000_000) }
  }
}

extension Ticker: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(times: newest?.timestamp, in: "newest")
    // Room times are far below this limit, which is so low that no sum of times overflows.
    let times = Instant.origin...Instant(nanoseconds: 1 << 62 + 1 << 60)
    try require(times.contains(last) && times.contains(newest?.at ?? .origin), "last")
  }
}
