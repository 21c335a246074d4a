import CSystemd
import Glibc

/// An entry read from the journal.
public struct JournalEntry: Sendable, Equatable {
  /// When journald received it, microseconds since 1970.
  public var realtimeMicroseconds: UInt64
  /// Its fields; the values of a field that stands there several times are joined by line feeds,
  /// bytes that are no UTF-8 are replaced.
  public var fields: [String: String]

  public init(realtimeMicroseconds: UInt64, fields: [String: String]) {
    self.realtimeMicroseconds = realtimeMicroseconds
    self.fields = fields
  }

  /// The kind of the entry, if it is one of this program's.
  public var kind: JournalMessageID? {
    fields["MESSAGE_ID"].flatMap(JournalMessageID.init(rawValue:))
  }
}

/// Reads the journal, filtered, from a point in time on, and follows it.
///
/// Matches on the same field are alternatives, matches on different fields must all hold. Set
/// matches, then the position, then call ``next()`` until nil, and ``wait(microseconds:)`` for
/// more. Belongs to the thread that opened it. A user who may not read any journal file gets no
/// entry and no error: that is how libsystemd does it.
public struct JournalReader: ~Copyable {
  /// Which journal files to read.
  public enum Source: Sendable, Equatable {
    /// Those of this machine that the user may read.
    case local
    /// Those in a directory.
    case directory(String)
  }

  /// What ended a wait.
  public enum Change: Sendable, Equatable {
    /// The time.
    case none
    /// Entries may have been added at the end.
    case appended
    /// Files came or went; entries may have been added anywhere.
    case invalidated
  }

  private let journal: OpaquePointer

  /// Opens the journal, positioned before the oldest entry.
  public init(_ source: Source = .local) throws(SystemdError) {
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
      throw SystemdError(.openJournal, code: result, context: context)
    }
    journal = opened
  }

  deinit { sd_journal_close(journal) }

  /// Reads only entries in which `field` has this value.
  ///
  /// - Throws: `EINVAL` for a name that no field can have.
  public mutating func match(field: String, value: String) throws(SystemdError) {
    let data = Array("\(field)=\(value)".utf8)
    let result = sd_journal_add_match(journal, data, data.count)
    if result < 0 { throw SystemdError(.matchJournal, code: result, context: field) }
  }

  /// Reads only entries of this kind, and of others matched so.
  public mutating func match(_ kind: JournalMessageID) throws(SystemdError) {
    try match(field: "MESSAGE_ID", value: kind.rawValue)
  }

  /// Goes on with the first entry received at this time or later.
  public mutating func seek(sinceRealtimeMicroseconds time: UInt64) throws(SystemdError) {
    let result = sd_journal_seek_realtime_usec(journal, time)
    if result < 0 { throw SystemdError(.seekJournal, code: result) }
  }

  /// Goes on with entries that are yet to come.
  public mutating func seekToEnd() throws(SystemdError) {
    let result = sd_journal_seek_tail(journal)
    if result < 0 { throw SystemdError(.seekJournal, code: result) }
    // The end is a place behind the newest entry only after one step back onto it: "next"
    // straight from the end does not see entries that are added later.
    let back = sd_journal_previous(journal)
    if back < 0 { throw SystemdError(.seekJournal, code: back) }
  }

  /// Goes on with the newest `count` entries, or all if there are fewer, and with those to come.
  ///
  /// - Parameter until: only entries received at this time, in microseconds since 1970, or earlier
  ///   count as the newest; nil means all.
  /// - Complexity: O(count).
  public mutating func seekToLast(_ count: Int, until: UInt64? = nil) throws(SystemdError) {
    let sought: Int32
    if let until, until < .max {
      sought = sd_journal_seek_realtime_usec(journal, until + 1)
    } else {
      sought = sd_journal_seek_tail(journal)
    }
    if sought < 0 { throw SystemdError(.seekJournal, code: sought) }
    // One more: "next" leaves the entry on which it stands.
    let steps = UInt64(max(0, count)) + 1
    let moved = sd_journal_previous_skip(journal, steps)
    if moved < 0 { throw SystemdError(.seekJournal, code: moved) }
    guard UInt64(moved) < steps else { return }
    let head = sd_journal_seek_head(journal)
    if head < 0 { throw SystemdError(.seekJournal, code: head) }
  }

  /// Bytes of the journal files that are read; 0 if there is none that the user may read.
  public func fileBytes() throws(SystemdError) -> UInt64 {
    var bytes: UInt64 = 0
    let result = sd_journal_get_usage(journal, &bytes)
    if result < 0 { throw SystemdError(.readJournal, code: result) }
    return bytes
  }

  /// The next entry, or nil at the end; after ``wait(microseconds:)`` there may be more.
  public mutating func next() throws(SystemdError) -> JournalEntry? {
    let result = sd_journal_next(journal)
    if result < 0 { throw SystemdError(.readJournal, code: result) }
    guard result > 0 else { return nil }
    var time: UInt64 = 0
    let timed = sd_journal_get_realtime_usec(journal, &time)
    if timed < 0 { throw SystemdError(.readJournal, code: timed) }
    return JournalEntry(realtimeMicroseconds: time, fields: try fields())
  }

  /// Waits until the journal changes, or for `microseconds` (nil: without end).
  public mutating func wait(microseconds: UInt64?) throws(SystemdError) -> Change {
    let result = sd_journal_wait(journal, microseconds ?? .max)
    if result < 0 { throw SystemdError(.waitForJournal, code: result) }
    switch Int(result) {
    case SD_JOURNAL_APPEND: return .appended
    case SD_JOURNAL_INVALIDATE: return .invalidated
    default: return .none
    }
  }

  private func fields() throws(SystemdError) -> [String: String] {
    var fields: [String: String] = [:]
    sd_journal_restart_data(journal)
    while true {
      var data: UnsafeRawPointer?
      var size = 0
      // "available": skips fields of a compression that this library lacks, rather than fail.
      let result = sd_journal_enumerate_available_data(journal, &data, &size)
      if result < 0 { throw SystemdError(.readJournal, code: result) }
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
