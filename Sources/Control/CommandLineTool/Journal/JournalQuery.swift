import ControlInterface
package import Systemd

/// Which entries of the journal are asked for.
package struct JournalQuery: Sendable {
  package var source = JournalReader.Source.local
  /// None means all of the daemon's entries.
  package var kinds: [JournalMessageID] = []
  package var room: String?
  /// Milliseconds since 1970.
  package var since: Int?
  /// Milliseconds since 1970.
  package var until: Int?
  /// Only so many of the newest.
  package var lines: Int?

  package init() {}

  /// What the daemon calls itself in the journal.
  package static let identifier = "livehostd"

  /// Whether hangs alone are asked for, so that their table can be made of them.
  package var isOfHangs: Bool {
    !kinds.isEmpty && kinds.allSatisfy { $0 == .hang || $0 == .microhang }
  }

  /// Opens the journal, placed before the first entry that is asked for; ``admits(_:)`` says which of
  /// those that follow are.
  package func open() throws(SystemdError) -> JournalReader {
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

  /// Whether an entry lies in the time that is asked for. A hang lies where it began, as in
  /// `livehostctl hangs`; its entry was written when it ended.
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
  /// When journald received it, milliseconds since 1970.
  package var milliseconds: Int { Int(realtimeMicroseconds / 1_000) }
}
