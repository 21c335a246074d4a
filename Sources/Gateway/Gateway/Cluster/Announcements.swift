import JSON
import RateLimiting

/// What somebody asked of nodes by calls here: entries that are written again for a while.
///
/// The servers forget an entry soon, and whoever hears nothing just then, or hears it before it knows who is there, does not
/// do it. A value; the caller passes the time and writes.
struct Announcements: Sendable {
  private struct Entry: Sendable {
    var value: JSONValue
    /// Of the newest write, and when it was asked for.
    var sequence: UInt64
    var written: Instant
    var next: Instant
    var until: Instant
  }

  /// Writes an entry in place of the one with the expected sequence; 0 stands for none.
  struct Write {
    let key: String
    let value: JSONValue
    let expected: UInt64
  }

  private let settings: LeaseKeeper.Settings
  private var entries: [String: Entry] = [:]

  init(_ settings: LeaseKeeper.Settings) { self.settings = settings }

  /// An entry was written first.
  mutating func add(_ key: String, _ value: JSONValue, sequence: UInt64, at now: Instant) {
    entries[key] = Entry(
      value: value, sequence: sequence, written: now, next: now + settings.renewal,
      until: now + settings.announcementLifetime)
  }

  /// It was written again.
  mutating func recordWritten(_ key: String, sequence: UInt64, at now: Instant) {
    guard let known = entries[key]?.sequence, sequence > known else { return }
    entries[key]?.sequence = sequence
    entries[key]?.written = now
  }

  /// An entry is there, by whoever wrote it. The last word counts.
  mutating func observed(_ key: String, _ value: JSONValue?, sequence: UInt64, at now: Instant) {
    guard let entry = entries[key], sequence > entry.sequence else { return }
    if value == entry.value {
      recordWritten(key, sequence: sequence, at: now)
    } else if value != nil {
      entries[key] = nil
    }
  }

  /// What to write now.
  mutating func due(at now: Instant) -> [Write] {
    entries = entries.filter { now < $0.value.until }
    let due = entries.filter { now >= $0.value.next }.sorted { $0.key < $1.key }
    return due.map { key, entry in
      entries[key]?.next = now + settings.renewal
      let isThere = now - entry.written < settings.duration
      return Write(key: key, value: entry.value, expected: isThere ? entry.sequence : 0)
    }
  }
}
