import ArgumentParser
import ControlInterface
import JSON
import LiveEvents
import TerminalScreen
import Wording

struct SourcesVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "sources", abstract: "List the sources of events with their state.",
    discussion: """
      A source is a program that sends events from a platform. POSITION is the number of the \
      newest batch that the room has received from the source.

      JSON: the array sources of the reply of ListSources in the control interface.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Only sources of this room.") var room: RoomName?

  func run(_ context: Context) async throws {
    let sources = try await context.withDaemon {
      try await $0.listSources(room: room?.description).sources
    }
    try context.print(JSONValue(encoding: sources)) {
      Self.lines(sources, columns: context.console.columns)
    }
  }

  static func lines(_ sources: [SourceReport], columns: Int) -> [String] {
    guard !sources.isEmpty else { return ["no source has reported its state"] }
    var table = TextTable([
      ("ROOM", .left), ("SOURCE", .left), ("PLATFORM", .left), ("STATE", .left), ("LOST", .right),
      ("BACK-FILLED", .right), ("DUPLICATE", .right), ("POSITION", .right), ("MISSING", .left),
    ])
    for source in sources {
      table.append([
        source.room, TerminalText.sanitized(source.source),
        TerminalText.sanitized(source.platform ?? "-"),
        TerminalText.sanitized(state(of: source)), Format.count(source.lost),
        Format.count(source.backfilled), Format.count(source.duplicate),
        source.position.map { "\($0)" } ?? "-", TerminalText.sanitized(gap(of: source)),
      ])
    }
    return table.lines(columns: columns)
  }

  private static func state(of source: SourceReport) -> String {
    guard let state = source.state else { return "-" }
    var text = state.rawValue
    if let late = source.behindMs, state == .behind {
      text += " \(Format.duration(seconds: late / 1_000))"
    }
    return source.reason.map { $0.isEmpty ? text : "\(text): \($0)" } ?? text
  }

  private static func gap(of source: SourceReport) -> String {
    guard let gap = source.lastGap else { return "-" }
    let last = "\(Format.duration(seconds: (gap.to - gap.from + 999) / 1_000)) (\(gap.reason))"
    guard source.gaps > 1 else { return last }
    return last
      + ", \(Format.count(source.gaps, "gap")), "
      + "\(Format.duration(seconds: source.gapMs / 1_000)) in all"
  }
}
