package import ControlInterface
package import JSON
package import Systemd
import TerminalScreen
import Wording

/// Formats journal entries as text and as JSON.
package enum JournalText {
  /// Returns an entry as one line, such as `2026-11-21 12:30:07.250  notice   room main opened`.
  package static func line(_ entry: JournalEntry) -> String {
    let level = level(entry)
    let gap = String(repeating: " ", count: max(1, 9 - level.count))
    return Format.time(milliseconds: entry.milliseconds) + "  " + level + gap
      + TerminalText.sanitized(entry.fields["MESSAGE"] ?? "(no message)")
  }

  /// Returns a JSON object with the members timestamp, level, message and fields, and with kind and
  /// room if the entry has them.
  package static func json(_ entry: JournalEntry) -> JSONValue {
    var object: [JSONName: JSONValue] = [
      "timestamp": .integer(Int64(entry.milliseconds)), "level": .string(level(entry)),
      "message": .string(entry.fields["MESSAGE"] ?? ""),
    ]
    object["kind"] = entry.kind.map { .string($0.name) }
    object["room"] = entry.fields[JournalFieldName.make("room")].map { .string($0) }
    object["fields"] = .object(
      Dictionary(
        entry.fields.filter { isShown($0.key) }.map { (JSONName($0.key), .string($0.value)) },
        uniquingKeysWith: { _, last in last }))
    return .object(object)
  }

  /// Returns whether a field comes from the program or the service manager. Other fields, which
  /// describe the machine and the sender, are omitted.
  private static func isShown(_ field: String) -> Bool {
    field.hasPrefix(JournalFieldName.prefix)
      || ["MESSAGE_ID", "_PID", "_BOOT_ID", "_SYSTEMD_UNIT", "_SYSTEMD_INVOCATION_ID"]
        .contains(field)
  }

  /// Returns the daemon's name for the entry's syslog severity.
  private static func level(_ entry: JournalEntry) -> String {
    switch entry.fields["PRIORITY"] {
    case "7": "debug"
    case "5": "notice"
    case "4": "warning"
    case "3": "error"
    case "2", "1", "0": "critical"
    default: "info"
    }
  }

  /// Lists the kinds of entry with their message IDs, so that users can filter with other tools.
  package static func kindLines() -> [String] {
    var table = TextTable([("KIND", .left), ("LEVEL", .left), ("MESSAGE_ID", .left)])
    for kind in JournalMessageID.allCases {
      table.append([kind.name, kind.levelName, kind.rawValue])
    }
    return table.lines
  }

  package static func kindsJSON() -> JSONValue {
    let kinds = JournalMessageID.allCases.map { kind -> JSONValue in
      [
        "kind": .string(kind.name), "level": .string(kind.levelName),
        "messageID": .string(kind.rawValue),
        "fields": .array(kind.fields.always.map { .string($0) }),
        "optionalFields": .array(
          (kind.fields.sometimes + [JournalMessageID.repeatedField]).map { .string($0) }),
      ]
    }
    return ["kinds": .array(kinds)]
  }
}

extension HangList {
  /// Returns the hang that an entry reports. Returns nil if the entry is not a hang, or if it lacks
  /// fields because an earlier version wrote it.
  package static func report(_ entry: JournalEntry) -> HangReport? {
    let kind: HangKind
    switch entry.kind {
    case .hang: kind = .hang
    case .microhang: kind = .microhang
    default: return nil
    }
    return HangReport(kind: kind) { entry.fields[JournalFieldName.make($0)] }
  }
}
