import CSystemd
import Glibc
package import SystemSupport

/// An entry read from the journal.
package struct JournalEntry: Sendable, Equatable {
  /// The time at which journald received the entry, in microseconds since 1970.
  package var realtimeMicroseconds: UInt64
  /// The fields. Several values of one field are joined by line feeds; invalid UTF-8 is replaced.
  package var fields: [String: String]

  package init(realtimeMicroseconds: UInt64, fields: [String: String]) {
    self.realtimeMicroseconds = realtimeMicroseconds
    self.fields = fields
  }

  /// The kind of the entry, if it is a kind of this program.
  package var kind: JournalMessageID? {
    fields["MESSAGE_ID"].flatMap(JournalMessageID.init(rawValue:))
  }
}

/// Reads the journal from a point in time, with filters, and follows it.
///
/// Matches on the same field are alternatives; matches on different fields must all hold. Set the
/// matches, then the position, then call ``next()`` until it returns nil, and
/// ``wait(microseconds:)`` for more entries. The reader belongs to the thread that opened it. If
/// the user may not read any journal file, libsystemd returns neither entries nor an error.
package struct JournalReader: ~Copyable {
  package enum Source: Sendable, Equatable {
    /// The files of this machine that the user may read.
    case local
    case directory(String)
  }

  /// The reason why a wait ended.
  package enum Change: Sendable, Equatable {
    /// The wait timed out.
    case none
    /// Entries may have been added at the end.
    case appended
    /// Files were added or removed, so new entries may be anywhere.
    case invalidated
  }

  private let journal: OpaquePointer

  /// Opens the journal, positioned before the oldest entry.
  package init(_ source: Source = .local) throws(SystemError) {
    var opened: OpaquePointer?
    let result: Int32
    let context: String
    switch source {
    case .local:
      context = ""
      result = sd_journal_open(&opened, Int32(SD_JOURNAL_LOCAL_ONLY))
    case .directory(let path):
      context = path
      result = sd_journal_open_directory(&opened, path, 0)
    }
    guard result >= 0, let opened else {
      throw SystemError(.openJournal, code: result, context: context)
    }
    journal = opened
  }

  deinit { sd_journal_close(journal) }

  /// Restricts reading to entries in which `field` has this value. Throws `EINVAL` for a name that
  /// no field can have.
  package mutating func match(field: String, value: String) throws(SystemError) {
    let data = Array("\(field)=\(value)".utf8)
    let result = sd_journal_add_match(journal, data, data.count)
    if result < 0 { throw SystemError(.matchJournal, code: result, context: field) }
  }

  /// Restricts reading to entries of this kind. After several calls, entries of all these kinds are
  /// read.
  package mutating func match(_ kind: JournalMessageID) throws(SystemError) {
    try match(field: "MESSAGE_ID", value: kind.rawValue)
  }

  /// Moves to the first entry received at this time or later.
  package mutating func seek(sinceRealtimeMicroseconds time: UInt64) throws(SystemError) {
    let result = sd_journal_seek_realtime_usec(journal, time)
    if result < 0 { throw SystemError(.seekJournal, code: result) }
  }

  /// Moves to the newest `count` entries, or to all if there are fewer; new entries follow. With
  /// `until`, ignores entries received after that time, in microseconds since 1970. Takes O(count).
  package mutating func seekToLast(_ count: Int, until: UInt64? = nil) throws(SystemError) {
    let code: Int32
    if let until, until < .max {
      code = sd_journal_seek_realtime_usec(journal, until + 1)
    } else {
      code = sd_journal_seek_tail(journal)
    }
    if code < 0 { throw SystemError(.seekJournal, code: code) }
    // Moves one step more, because "next" advances past the current entry.
    let steps = UInt64(max(0, count)) + 1
    let moved = sd_journal_previous_skip(journal, steps)
    if moved < 0 { throw SystemError(.seekJournal, code: moved) }
    guard UInt64(moved) < steps else { return }
    let head = sd_journal_seek_head(journal)
    if head < 0 { throw SystemError(.seekJournal, code: head) }
  }

  /// Returns the size of the journal files being read, in bytes, or 0 if the user may not read any.
  package func fileBytes() throws(SystemError) -> UInt64 {
    var bytes: UInt64 = 0
    let result = sd_journal_get_usage(journal, &bytes)
    if result < 0 { throw SystemError(.readJournal, code: result) }
    return bytes
  }

  /// Returns the next entry, or nil at the end. More may follow after ``wait(microseconds:)``.
  package mutating func next() throws(SystemError) -> JournalEntry? {
    let result = sd_journal_next(journal)
    if result < 0 { throw SystemError(.readJournal, code: result) }
    guard result > 0 else { return nil }
    var time: UInt64 = 0
    let timed = sd_journal_get_realtime_usec(journal, &time)
    if timed < 0 { throw SystemError(.readJournal, code: timed) }
    return JournalEntry(realtimeMicroseconds: time, fields: try fields())
  }

  /// Waits until the journal changes, or for `microseconds` (nil: indefinitely).
  package mutating func wait(microseconds: UInt64?) throws(SystemError) -> Change {
    let result = sd_journal_wait(journal, microseconds ?? .max)
    if result < 0 { throw SystemError(.waitForJournal, code: result) }
    switch Int(result) {
    case SD_JOURNAL_APPEND: return .appended
    case SD_JOURNAL_INVALIDATE: return .invalidated
    default: return .none
    }
  }

  private func fields() throws(SystemError) -> [String: String] {
    var fields: [String: String] = [:]
    sd_journal_restart_data(journal)
    while true {
      var data: UnsafeRawPointer?
      var size = 0
      // The "available" variant skips fields with an unsupported compression instead of failing.
      let result = sd_journal_enumerate_available_data(journal, &data, &size)
      if result < 0 { throw SystemError(.readJournal, code: result) }
      guard result > 0, let data else { return fields }
      let bytes = UnsafeRawBufferPointer(start: data, count: size)
      guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")) else { continue }
      let name = String(decoding: bytes[..<equals], as: UTF8.self)
      let value = String(decoding: bytes[(equals + 1)...], as: UTF8.self)
      if let first = fields[name] {
        fields[name] = "\(first)\n\(value)"
      } else {
        fields[name] = value
      }
    }
  }
}
