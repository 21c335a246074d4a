import JSON
import RateLimiting

/// Announcements that this node makes to other nodes on behalf of callers: entries of the bucket of
/// leases that are written repeatedly for a while.
///
/// The servers soon forget an entry. A node that is not listening just then, or does not know the
/// other nodes yet, would miss a single write. The caller passes the time and writes the entries.
struct Announcements: Sendable {
  private struct Entry: Sendable {
    var value: JSONValue
    /// The sequence of the newest write.
    var sequence: UInt64
    var written: Instant
    var next: Instant
    var until: Instant
  }

  /// A request to replace an entry that has the expected sequence; 0 means that there is none.
  struct Write {
    let key: String
    let value: JSONValue
    let expected: UInt64
  }

  private let settings: LeaseKeeper.Settings
  private var entries: [String: Entry] = [:]

  init(_ settings: LeaseKeeper.Settings) { self.settings = settings }

  /// Adds an entry that was written for the first time.
  mutating func add(_ key: String, _ value: JSONValue, sequence: UInt64, at now: Instant) {
    entries[key] = Entry(
      value: value, sequence: sequence, written: now, next: now + settings.renewal,
      until: now + settings.announcementLifetime)
  }

  mutating func recordWritten(_ key: String, sequence: UInt64, at now: Instant) {
    guard let known = entries[key]?.sequence, sequence > known else { return }
    entries[key]?.sequence = sequence
    entries[key]?.written = now
  }

  /// Records an entry that the watch reports, whichever node wrote it. An entry with another value
  /// ends the announcement.
  mutating func observed(_ key: String, _ value: JSONValue?, sequence: UInt64, at now: Instant) {
    guard let entry = entries[key], sequence > entry.sequence else { return }
    if value == entry.value {
      recordWritten(key, sequence: sequence, at: now)
    } else if value != nil {
      entries[key] = nil
    }
  }

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
