import JSON
import RateLimiting

/// The bucket of leases as the servers keep it, on virtual time: the newest entry of each key, an
/// age limit, and compare-and-set.
struct Bucket {
  struct Entry {
    var value: JSONValue?
    var sequence: UInt64
    var written: Instant
  }

  /// A time by the servers' clock, which counts from the origin here.
  static func time(_ instant: Instant) -> UInt64 { UInt64((instant - .origin).nanoseconds) }

  var entries: [String: Entry] = [:]
  var sequence: UInt64 = 0
  let age = Interval.seconds(3)

  /// Writes an entry. Returns its sequence; `nil` if another entry was expected.
  mutating func write(_ key: String, _ value: JSONValue?, expected: UInt64?, at now: Instant)
    -> UInt64?
  {
    let present = entries[key].flatMap { now - $0.written < age ? $0.sequence : nil } ?? 0
    if let expected, expected != present { return nil }
    sequence += 1
    entries[key] = Entry(value: value, sequence: sequence, written: now)
    return sequence
  }
}
