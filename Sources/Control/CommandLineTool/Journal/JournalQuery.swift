import ControlInterface
package import SystemSupport
package import Systemd

/// Selects journal entries by kind, room and time.
package struct JournalQuery: Sendable {
  package var source = JournalReader.Source.local
  /// The kinds of entry; empty for all of the daemon's entries.
  package var kinds: [JournalMessageID] = []
  package var room: String?
  /// The earliest time of an entry, in milliseconds since 1970.
  package var since: Int?
  /// The latest time of an entry, in milliseconds since 1970.
  package var until: Int?
  /// The maximum number of entries; the newest entries are selected.
  package var lines: Int?

  package init() {}

  package static let identifier = "livehostd"

  /// Whether only hangs are selected, so that the entries can be shown as a table.
  package var isOfHangs: Bool {
    !kinds.isEmpty && kinds.allSatisfy { $0 == .hang || $0 == .microhang }
  }

  /// Opens the journal and seeks to the first entry that may be selected. ``admits(_:)`` decides
  /// whether each entry from there is selected.
  package func open() throws(SystemError) -> JournalReader {
    var reader = try JournalReader(source)
    try reader.match(field: "SYSLOG_IDENTIFIER", value: Self.identifier)
    for kind in kinds { try reader.match(kind) }
    if let room { try reader.match(field: JournalFieldName.make("room"), value: room) }
    if let lines, !isOfHangs {
      try reader.seekToLast(lines, until: until.map { Self.microseconds($0) + 999 })
    } else if let since {
      try reader.seek(sinceRealtimeMicroseconds: Self.microseconds(since))
    }
    return reader
  }

  /// Returns whether an entry lies between `since` and `until`. A hang is dated by its beginning,
  /// as in `livehostctl hangs`, although its entry was written when the hang ended.
  package func admits(_ entry: JournalEntry) -> Bool {
    let time =
      isOfHangs ? HangList.report(entry)?.timestamp ?? entry.milliseconds : entry.milliseconds
    return time >= since ?? .min && time <= until ?? .max
  }

  private static func microseconds(_ milliseconds: Int) -> UInt64 {
    UInt64(max(0, milliseconds)) * 1_000
  }
}

extension JournalEntry {
  /// The time at which journald received the entry, in milliseconds since 1970.
  package var milliseconds: Int { Int(realtimeMicroseconds / 1_000) }
}
