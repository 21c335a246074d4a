import LiveEvents
import RateLimiting

/// Maps the timestamps of events, which senders choose, to a room's time.
///
/// A timestamp that differs by more than a day from the previous maximum comes from another clock,
/// or is wrong; the room's time then continues from its current value.
struct EventTime {
  /// The largest accepted difference between timestamps, in milliseconds.
  private static let longestJump: Timestamp = 86_400_000
  /// The range of timestamps, in milliseconds since 1970, whose nanoseconds fit into 64 bits: 146
  /// years in either direction. Timestamps outside of this range are clamped to it.
  private static let range: ClosedRange<Timestamp> = -(1 << 62) / 1_000_000...(1 << 62) / 1_000_000

  private var newest: Timestamp
  /// The room's time at the timestamp `newest`.
  private var instant: Instant

  init(_ timestamp: Timestamp, at now: Instant) {
    newest = Self.clamped(timestamp)
    instant = now
  }

  /// Returns the room's time of a timestamp; it may be earlier than `now`.
  mutating func time(of timestamp: Timestamp, now: Instant) -> Instant {
    let timestamp = Self.clamped(timestamp)
    let ahead = timestamp - newest
    if abs(ahead) > Self.longestJump {
      self = EventTime(timestamp, at: now)
      return now
    }
    let time = instant + .milliseconds(ahead)
    if ahead > 0 { (newest, instant) = (timestamp, time) }
    return time
  }

  private static func clamped(_ timestamp: Timestamp) -> Timestamp {
    min(max(timestamp, range.lowerBound), range.upperBound)
  }
}
