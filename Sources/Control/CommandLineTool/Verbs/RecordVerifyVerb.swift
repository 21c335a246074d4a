import ArgumentParser
import ControlInterface
import JSON
import LiveEvents
import TerminalScreen
import Varlink
import Wording

struct RecordVerifyVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check recordings for damage.",
    discussion: """
      Reads every file of a recording, of all recordings of a room or, with --all, of all \
      recordings. Checks each line, which has a number and a checksum that covers the lines before \
      it. Everything before the first damaged line can still be replayed and exported. 'record \
      list' marks damaged recordings. Exits with 1 if any recording is damaged.

      JSON: an array of objects with recording, room, bytes, lines, records and damage.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(
    help: ArgumentHelp("A recording or a room.", valueName: "recording|room"),
    completion: .recordingsAndRooms)
  var subject: String?
  @Flag(help: "Check all recordings of all rooms.") var all = false

  func validate() throws {
    if (subject != nil) == all {
      throw ValidationError("name a recording or a room, or give --all")
    }
  }

  func run(_ context: Context) async throws {
    let checks = try await check(context)
    try context.print(JSONValue(encoding: checks)) { Self.lines(checks, context) }
    let damaged = checks.count { $0.damage != nil }
    if damaged > 0 {
      throw Failure(.failed, "damaged: \(damaged) of \(Format.count(checks.count, "recording"))")
    }
  }

  private func check(_ context: Context) async throws -> [RecordingCheckReport] {
    guard let subject else { return try await check(context, nil, room: nil) ?? [] }
    if let checks = try await check(context, subject, room: nil) { return checks }
    guard RoomName(subject) != nil,
      let checks = try await check(context, nil, room: subject), !checks.isEmpty
    else { throw Failure(ControlError.noSuchRecording(subject)) }
    return checks
  }

  /// Checks recordings. Returns `nil` if no recording has the given name; the name may then be the
  /// name of a room.
  private func check(
    _ context: Context, _ recording: String?, room: String?
  ) async throws -> [RecordingCheckReport]? {
    let bar = PercentBar(context.console)
    defer { bar.clear() }
    return try await context.withDaemon { client in
      var checks: [RecordingCheckReport] = []
      do {
        for try await reply in try client.verifyRecordings(recording: recording, room: room) {
          bar.show(reply.percent)
          if let checked = reply.checked { checks.append(checked) }
        }
      } catch VarlinkClientError.remote(let error) {
        guard case .noSuchRecording? = ControlError(error) else {
          throw VarlinkClientError.remote(error)
        }
        return nil
      }
      return checks
    }
  }

  private static func lines(_ checks: [RecordingCheckReport], _ context: Context) -> [String] {
    if checks.isEmpty { return ["no recordings"] }
    var table = TextTable([
      ("RECORDING", .left), ("LINES", .right), ("RECORDS", .right), ("SIZE", .right),
      ("DAMAGE", .left),
    ])
    for check in checks {
      table.append([
        TerminalText.sanitized(check.recording), Format.count(check.lines),
        Format.count(check.records), Format.bytes(check.bytes),
        TerminalText.sanitized(check.damage ?? "-"),
      ])
    }
    return table.lines(columns: context.console.columns)
  }
}
