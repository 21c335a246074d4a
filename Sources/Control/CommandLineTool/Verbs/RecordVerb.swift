import ArgumentParser
package import ControlInterface
import JSON
import LiveEvents
import TerminalScreen
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

  // The options are declared here so that users can also write them before the inner verb.
  @OptionGroup(title: "Global options") var global: GlobalOptions
}

struct RecordStartVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "start", abstract: "Start recording a room.",
    discussion: """
      Records every accepted event in order, with the room's time and frames. While a room is \
      recorded, its events are acknowledged once they are on disk. If the recording fails later, a \
      new recording is attempted until one succeeds or 'record stop' is called.

      JSON: an object as in 'record list'; with --elsewhere, an object with room, wish and outcome.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Flag(
    help: "If recording cannot start now, try again until it starts or 'record stop' is called.")
  var retry = false
  @Flag(help: ExternalRecorderOption.help) var elsewhere = false

  func run(_ context: Context) async throws {
    try await context.record(.start, in: room, elsewhere: elsewhere, line: \.recording) {
      try await $0.startRecording(room: room.description, retry: retry ? true : nil)
    }
  }
}

struct RecordPauseVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "pause",
    abstract: "Pause the recording of a room.",
    discussion: """
      Returns once all earlier events are on disk. 'record resume' continues the same recording, \
      which is listed as interrupted until then. The recording stays paused across a restart of \
      the daemon. Because events are missing, a replay of the recording does not reproduce the \
      state of the room.

      JSON: an object as in 'record list'; with --elsewhere, an object with room, wish and outcome.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Flag(help: ExternalRecorderOption.help) var elsewhere = false

  func run(_ context: Context) async throws {
    try await context.record(.pause, in: room, elsewhere: elsewhere) {
      try await $0.pauseRecording(room: room.description)
    }
  }
}

struct RecordResumeVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Continue the paused recording of a room.",
    discussion: """
      JSON: an object as in 'record list'; with --elsewhere, an object with room, wish and outcome.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Flag(help: ExternalRecorderOption.help) var elsewhere = false

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
      Returns once all events are on disk.

      JSON: an object as in 'record list'; with --elsewhere, an object with room, wish and outcome.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Flag(help: ExternalRecorderOption.help) var elsewhere = false

  func run(_ context: Context) async throws {
    try await context.record(.stop, in: room, elsewhere: elsewhere) {
      try await $0.stopRecording(room: room.description)
    }
  }
}

enum ExternalRecorderOption {
  static let help: ArgumentHelp =
    "Send the request to an external recorder, such as OBS, and wait for its answer."
}

extension Context {
  /// Sends a request to a recorder of a room, and prints the answer as formatted by `line`.
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
        .failed, "the external recorder refused: \(TerminalText.sanitized(reason))",
        details: reply)
    }
    try print(.object(reply)) { [] }
  }
}

struct RecordListVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the recordings.",
    discussion: """
      The state is recording, finished, interrupted (the daemon ended without stopping the \
      recording; all acknowledged events are in it), failed or damaged.

      JSON: an array of objects with recording, room, state, reason, startedAt, endedAt, events, \
      frames, bytes, durationMs, segments and digest.
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
      Permanently removes all files of a recording. A recording that is being written, replayed, \
      exported, analysed or verified is not deleted. The daemon can delete the oldest recordings \
      automatically: see recordings.maximumAge and recordings.maximumBytes in livehostd.conf(5).

      JSON: an object as in 'record list', which describes the deleted recording.
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

/// Formats the output of the verb `record`.
package enum RecordingList {
  package static func lines(
    _ recordings: [RecordingReport], columns: Int = .max
  ) -> [String] {
    if recordings.isEmpty { return ["no recordings"] }
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
