import LiveEvents
import RateLimiting

/// Maps the time stamps of events to a room's time, whatever strangers write there.
///
/// A time stamp more than a day from the newest one before it comes from another clock, or is
/// wrong: time continues from where it is.
struct EventTime {
  /// In milliseconds.
  private static let longestJump: Timestamp = 86_400_000
  /// The range, in milliseconds since 1970, in which time stamps are distinguished, so that
  /// nanoseconds fit: 146 years.
  private static let range: ClosedRange<Timestamp> = -(1 << 62) / 1_000_000...(1 << 62) / 1_000_000

  private var newest: Timestamp
  /// The room's time of `newest`.
  private var instant: Instant

  init(_ timestamp: Timestamp, at now: Instant) {
    newest = Self.clamped(timestamp)
    instant = now
  }

  /// The room's time of a time stamp; possibly before `now`.
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
