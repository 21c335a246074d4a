import ArgumentParser
package import ControlInterface
import JSON
import ProgramArguments
import TerminalScreen
import Varlink
import Wording

struct HangsVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "hangs", abstract: "List the running daemon's hangs and their causes.",
    discussion: """
      A turn is one uninterrupted run of a lane, the thread of a set of rooms. A hang is a turn \
      that takes 500 ms or longer; a microhang takes 250 to 500 ms. The reason says how the time \
      was spent: busy (the lane was computing), blocked (the lane was waiting in a call) or \
      descheduled (the machine gave the lane no processor).

      JSON: an object with hangs, an array; with --follow one such object for each reply.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Only hangs since this time: -1h, 10m, today, '2026-11-21 10:00' or @SECONDS since 1970.",
      valueName: "time"),
    transform: { try PointInTime($0) })
  var since: PointInTime?
  @Flag(name: .shortAndLong, help: "Keep printing new hangs until Ctrl-C.") var follow = false

  func run(_ context: Context) async throws {
    let since = since?.milliseconds
    guard follow else {
      let hangs = try await context.withDaemon { try await $0.listHangs(since: since).hangs }
      try context.print(JSONValue(encoding: HangsReply(hangs: hangs))) {
        HangList.lines(hangs, columns: context.console.columns)
      }
      return
    }
    try await context.withDaemon { client in
      for try await reply in try client.monitorHangs() {
        let hangs = reply.hangs.filter { since == nil || $0.timestamp >= since ?? 0 }
        try context.streaming.print(JSONValue(encoding: HangsReply(hangs: hangs))) {
          hangs.map(HangList.line)
        }
      }
    }
    throw Failure(.failed, "the daemon stopped")
  }
}

/// Formats the output of the verb `hangs`.
package enum HangList {
  package static func lines(_ hangs: [HangReport], columns: Int = .max) -> [String] {
    if hangs.isEmpty { return ["no hang, no microhang"] }
    var table = TextTable([
      ("WHEN", .left), ("KIND", .left), ("DURATION", .right), ("REASON", .left), ("ROOM", .left),
      ("HELD BY", .left),
    ])
    for hang in hangs { table.append(cells(hang)) }
    return table.lines(columns: columns)
  }

  /// Returns a hang as one line, for a list to which new hangs are appended.
  package static func line(_ hang: HangReport) -> String {
    cells(hang).joined(separator: "  ")
  }

  private static func cells(_ hang: HangReport) -> [String] {
    [
      Format.time(milliseconds: hang.timestamp), hang.kind.rawValue,
      Format.microseconds(hang.durationMicroseconds), hang.reason.rawValue,
      TerminalText.sanitized(hang.room ?? "-"), TerminalText.sanitized(holder(hang)),
    ]
  }

  private static func holder(_ hang: HangReport) -> String {
    if let action = hang.action { return "action \(action)" }
    if let view = hang.view { return "view \(view)" }
    if let effect = hang.effect { return "effect \(effect)" }
    return hang.reason == .descheduled ? "the machine" : "-"
  }
}
