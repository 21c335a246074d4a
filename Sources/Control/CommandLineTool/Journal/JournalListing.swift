import ControlInterface
import JSON
import Systemd
import TerminalScreen

/// Prints journal entries: hangs in the format of the verb `hangs`, other entries line by line.
struct JournalListing {
  let query: JournalQuery
  let context: Context

  /// Prints the entries that the reader has now. If more entries will follow, prints each one
  /// separately.
  func list(_ reader: inout JournalReader, growing: Bool) throws {
    var entries: [JournalEntry] = []
    while let entry = try reader.next() {
      if query.admits(entry) { entries.append(entry) }
    }
    if growing, entries.isEmpty { return }
    if entries.isEmpty, query.source == .local, context.environment.userID != 0 {
      context.console.warn(
        "nothing found; only members of the groups adm and systemd-journal can read the "
          + "system's journal")
    }
    if query.isOfHangs {
      try print(hangs(entries), growing)
    } else {
      try print(entries, growing)
    }
  }

  private func print(_ entries: [JournalEntry], _ growing: Bool) throws {
    if growing {
      for entry in entries {
        try context.streaming.print(JournalText.json(entry)) { [JournalText.line(entry)] }
      }
    } else {
      try context.print(["entries": .array(entries.map(JournalText.json))]) {
        entries.isEmpty ? ["no entries"] : entries.map(JournalText.line)
      }
    }
  }

  private func print(_ hangs: [HangReport], _ growing: Bool) throws {
    try (growing ? context.streaming : context).print(JSONValue(encoding: HangsReply(hangs: hangs)))
    {
      growing ? hangs.map(HangList.line) : HangList.lines(hangs, columns: context.console.columns)
    }
  }

  private func hangs(_ entries: [JournalEntry]) -> [HangReport] {
    let hangs = entries.compactMap(HangList.report)
    if hangs.count < entries.count {
      context.console.warn(
        "hangs omitted because another version recorded them: \(entries.count - hangs.count)")
    }
    return query.lines.map { hangs.suffix($0) } ?? hangs
  }
}
