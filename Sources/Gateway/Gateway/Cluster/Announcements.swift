import JSON
import RateLimiting

/// Announcements that this node makes to other nodes on behalf of callers. An announcement is an
/// entry that this node writes repeatedly, for a limited time, to the bucket that holds the leases.
///
/// Entries are repeated because the servers soon forget them: a node that is disconnected at the
/// time of a single write, or does not know the other nodes yet, would miss it. The caller passes
/// the time and writes the entries.
struct Announcements: Sendable {
  private struct Entry: Sendable {
    var value: JSONValue
    /// The sequence of the newest write.
    var sequence: UInt64
    var written: Instant
    var next: Instant
    var until: Instant
  }

  /// A request to write an entry if the existing entry has the expected sequence; 0 means that no
  /// entry exists.
  struct Write {
    let key: String
    let value: JSONValue
    let expected: UInt64
  }

  private let settings: LeaseKeeper.Settings
  private var entries: [String: Entry] = [:]

  init(_ settings: LeaseKeeper.Settings) { self.settings = settings }

  /// Starts repeating an entry that has just been written for the first time.
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

  /// Records an entry that the watch of the bucket reports, written by this or another node. If its
  /// value differs from the announcement's, the announcement ends.
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
