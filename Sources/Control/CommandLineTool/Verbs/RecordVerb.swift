import ArgumentParser
package import ControlInterface
import JSON
import LiveEvents
import Wording

struct RecordVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Start, pause, stop, list, export, verify and delete recordings.",
    subcommands: [
      RecordStartVerb.self, RecordPauseVerb.self, RecordResumeVerb.self, RecordStopVerb.self,
      RecordListVerb.self, RecordExportVerb.self,
      RecordVerifyVerb.self, RecordDeleteVerb.self,
    ])

  // So that they may precede the inner verb, like any other.
  @OptionGroup(title: "Global options") var global: GlobalOptions
}

struct RecordStartVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "start", abstract: "Start recording a room.",
    discussion: """
      Records every accepted event in order, with the room's time and its frames. While a room is being \
      recorded, what is sent to it is acknowledged once it is on disk. If the recording fails later, another \
      one is begun as soon as that works, until 'record stop'.

      JSON: an object as in 'record list'; with --elsewhere one with room, wish and outcome.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Flag(help: "If it cannot be started now, go on trying until it works or 'record stop'.")
  var retry = false
  @Flag(help: RecorderElsewhere.help) var elsewhere = false

  func run(_ context: Context) async throws {
    try await context.record(.start, in: room, elsewhere: elsewhere, line: \.recording) {
      try await $0.startRecording(room: room.description, retry: retry ? true : nil)
    }
  }
}

struct RecordPauseVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "pause",
    abstract: "Leave out of the recording of a room what happens from here on.",
    discussion: """
      Returns once everything before that is on disk. 'record resume' continues the same recording, which is \
      listed as interrupted until then. A room whose recording is paused comes back like that after a \
      restart. Since something is missing in the recording, a replay does not lead to the state of the room.

      JSON: an object as in 'record list'; with --elsewhere one with room, wish and outcome.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Flag(help: RecorderElsewhere.help) var elsewhere = false

  func run(_ context: Context) async throws {
    try await context.record(.pause, in: room, elsewhere: elsewhere) {
      try await $0.pauseRecording(room: room.description)
    }
  }
}

struct RecordResumeVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Continue the recording of a room that is paused.",
    discussion: """
      JSON: an object as in 'record list'; with --elsewhere one with room, wish and outcome.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Flag(help: RecorderElsewhere.help) var elsewhere = false

  func run(_ context: Context) async throws {
    try await context.record(.resume, in: room, elsewhere: elsewhere) {
      try await $0.resumeRecording(room: room.description)
    }
  }
}

struct RecordStopVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "stop", abstract: "Stop recording a room.",
    discussion: """
      Returns once everything is on disk. JSON: an object as in 'record list'; with --elsewhere one with room, wish and outcome.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Flag(help: RecorderElsewhere.help) var elsewhere = false

  func run(_ context: Context) async throws {
    try await context.record(.stop, in: room, elsewhere: elsewhere) {
      try await $0.stopRecording(room: room.description)
    }
  }
}

enum RecorderElsewhere {
  static let help: ArgumentHelp =
    "Ask the recorder elsewhere, such as OBS, instead, and wait for its answer."
}

extension Context {
  /// Asks a recorder of a room for something and prints its answer.
  ///
  /// - Parameters:
  ///   - line: what people are shown of the recording.
  ///   - request: asks the room's own recorder.
  fileprivate func record(
    _ wish: RecorderWish, in room: RoomName, elsewhere: Bool,
    line: (RecordingReport) -> String = RecordingList.line,
    _ request: (ControlClient) async throws -> RecordingReply
  ) async throws {
    if elsewhere { return try await recordElsewhere(wish, in: room) }
    let recording = try await withDaemon(request).recording
    try print(JSONValue(encoding: recording)) { [line(recording)] }
  }

  private func recordElsewhere(_ wish: RecorderWish, in room: RoomName) async throws {
    let answer = try await withDaemon {
      try await $0.recordElsewhere(room: room.description, wish: wish)
    }
    var reply: [JSONName: JSONValue] = [
      "room": .string(room.description), "wish": .string(wish.rawValue),
    ]
    if let outcome = answer.outcome { reply["outcome"] = .string(outcome.rawValue) }
    if answer.outcome == .refused {
      let reason = answer.reason ?? "refused"
      reply["reason"] = .string(reason)
      throw Failure(
        .failed, "the recorder elsewhere refused: \(TerminalText.sanitized(reason))",
        details: reply)
    }
    try print(.object(reply)) { [] }
  }
}

struct RecordListVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the recordings.",
    discussion: """
      The state is recording, finished, interrupted (the daemon ended without stopping it; everything \
      that was acknowledged is there), failed or damaged.

      JSON: an array of objects with recording, room, state, reason, startedAt, endedAt, events, frames, \
      bytes, durationMs, segments and digest.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Only recordings of this room.") var room: RoomName?

  func run(_ context: Context) async throws {
    let recordings = try await context.withDaemon { client in
      var page = try await client.listRecordings(room: room?.description)
      var recordings = page.recordings
      while page.older != nil, let oldest = recordings.first?.recording {
        page = try await client.listRecordings(room: room?.description, before: oldest)
        recordings = page.recordings + recordings
      }
      return recordings
    }
    try context.print(JSONValue(encoding: recordings)) {
      RecordingList.lines(recordings, columns: context.console.columns)
    }
  }
}

struct RecordDeleteVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete a recording.",
    discussion: """
      Removes all files of a recording, for good. A recording that is being written, replayed, exported, \
      analysed or verified is not deleted. The daemon can delete the oldest by itself: see \
      recordings.maximumAge and recordings.maximumBytes in livehostd.conf(5).

      JSON: an object as in 'record list', of the recording as it was.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the recording.", completion: .recordings) var recording: String

  func run(_ context: Context) async throws {
    let deleted = try await context.withDaemon {
      try await $0.deleteRecording(recording).recording
    }
    try context.print(JSONValue(encoding: deleted)) { [RecordingList.line(deleted)] }
  }
}

/// The text of `record`.
package enum RecordingList {
  package static func lines(
    _ recordings: [RecordingReport], columns: Int = .max
  ) -> [String] {
    if recordings.isEmpty { return ["no recording"] }
    var table = TextTable([
      ("RECORDING", .left), ("STATE", .left), ("STARTED", .left), ("LENGTH", .right),
      ("EVENTS", .right), ("SIZE", .right), ("REASON", .left),
    ])
    for recording in recordings {
      table.append([
        TerminalText.sanitized(recording.recording), recording.state.rawValue,
        Format.time(milliseconds: recording.startedAt),
        Format.duration(seconds: recording.durationMs / 1_000), Format.count(recording.events),
        Format.bytes(recording.bytes), TerminalText.sanitized(recording.reason ?? "-"),
      ])
    }
    return table.lines(columns: columns)
  }

  package static func line(_ recording: RecordingReport) -> String {
    "\(TerminalText.sanitized(recording.recording)) \(recording.state.rawValue): "
      + "\(Format.count(recording.events)) events, "
      + "\(Format.duration(seconds: recording.durationMs / 1_000)), \(Format.bytes(recording.bytes))"
  }
}
