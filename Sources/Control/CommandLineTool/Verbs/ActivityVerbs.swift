import ArgumentParser
import ControlInterface
import JSON
import LiveEvents
import TerminalScreen
import Wording

struct ActivityVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "activity",
    abstract: "List and pin the activity of viewers: follows, gifts, raids.",
    usage: "livehostctl activity <room>\n       livehostctl activity <verb> [<arguments>]",
    discussion: "Without a verb, 'activity ROOM' lists the rows of the activity feed.",
    subcommands: [
      ActivityListVerb.self, ActivityPinVerb.self, ActivityUnpinVerb.self, ActivityDismissVerb.self,
    ])

  @OptionGroup(title: "Global options") var global: GlobalOptions
}

struct ActivityListVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the rows of the activity feed with their numbers.",
    discussion: """
      Pinned rows come first, then the newest ones. 'livehostctl activity ROOM' does the same.

      JSON: an array of objects with number, kind, name, times, count, timestamp and pinned; also \
      platform and source if they are known, and title, text and emotes if the row has them.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName

  func run(_ context: Context) async throws {
    let rows = try await context.withDaemon {
      try await $0.getRoom(room.description, feature: .activity)
    }.features.activity?.rows
    try context.print(JSONValue(encoding: rows ?? [])) {
      guard let rows, !rows.isEmpty else { return ["no activity"] }
      return rows.map { row in
        var parts = ["\(row.number)", row.kind, row.name ?? "-"]
        if row.times > 1 { parts.append("\(Format.count(row.times)) times") }
        if row.count > 0 { parts.append(Format.count(row.count)) }
        parts += [row.title, row.text, row.platform.map { "[\($0)]" }].compactMap { $0 }
        if row.pinned { parts.append("(pinned)") }
        return TerminalText.sanitized(parts.joined(separator: "  "))
      }
    }
  }
}

struct ActivityPinVerb: ActivityRowVerb {
  static let configuration = CommandConfiguration(
    commandName: "pin", abstract: "Keep a row of the activity feed above newer rows.",
    discussion: "At most eight rows can be pinned. JSON: an empty object.")
  static let handling = NoticeHandling.pin

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @OptionGroup var subject: ActivityArguments
}

struct ActivityUnpinVerb: ActivityRowVerb {
  static let configuration = CommandConfiguration(
    commandName: "unpin", abstract: "Allow newer rows to replace a pinned row.",
    discussion: "JSON: an empty object.")
  static let handling = NoticeHandling.unpin

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @OptionGroup var subject: ActivityArguments
}

struct ActivityDismissVerb: ActivityRowVerb {
  static let configuration = CommandConfiguration(
    commandName: "dismiss", abstract: "Remove a row from the screen.",
    discussion: "JSON: an empty object.")
  static let handling = NoticeHandling.dismiss

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @OptionGroup var subject: ActivityArguments
}

protocol ActivityRowVerb: Verb {
  static var handling: NoticeHandling { get }
  var subject: ActivityArguments { get }
}

struct ActivityArguments: ParsableArguments {
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(
    help: "Number of the row; 'livehostctl activity list ROOM' lists them.", completion: .activity)
  var row: Int
}

extension ActivityRowVerb {
  func run(_ context: Context) async throws {
    try await context.withDaemon {
      try await $0.handleActivity(
        room: subject.room.description, activity: subject.row, handling: Self.handling)
    }
    try context.print([:]) { [] }
  }
}
