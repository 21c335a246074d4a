import ArgumentParser
import ControlInterface
import JSON
import LiveEvents
import TerminalScreen
import Varlink
import Wording

struct AnalyzeVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "analyze", abstract: "Analyze the chat of a recording or a room.",
    discussion: """
      highlights finds the times when the chat was busier than before, and the words that stood \
      out then. spam finds messages that are nearly identical. chatters counts the messages of \
      each chatter. For a room, the messages that it currently stores are analyzed; with \
      rooms.chatWaves, highlights covers the whole chat so far. Ctrl-C cancels the task.

      JSON: an object with messages and the result.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Kind of analysis.") var what: AnalysisName
  @Argument(
    help: ArgumentHelp("A recording or a room.", valueName: "recording|room"),
    completion: .recordingsAndRooms)
  var subject: String

  func run(_ context: Context) async throws {
    // Asks whether a room has this name before starting the task. Trying it as a room first would
    // sometimes fail, and the daemon logs every failed task.
    let isRoom = try await context.withDaemon { client in
      try await client.listRooms().rooms.contains { $0.room == subject }
    }
    let request =
      isRoom
      ? StartTaskRequest(kind: what.kind, room: subject)
      : StartTaskRequest(kind: what.kind, recording: subject)
    try await TaskRun(request: request).show(context)
  }
}

enum AnalysisName: String, CaseIterable, ExpressibleByArgument {
  case highlights, spam, chatters

  var kind: TaskKind {
    switch self {
    case .highlights: .highlights
    case .spam: .spam
    case .chatters: .chatters
    }
  }
}

struct ReplayVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "replay", abstract: "Play a recording into a room.",
    discussion: """
      The room follows the recording's time, so it reaches the same state at every speed.

      JSON: an object with the members room, events, frames and digest.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the recording.", completion: .recordings) var recording: String
  @Option(help: ArgumentHelp("Room to play into. Default: the recorded room.", valueName: "room"))
  var room: RoomName?
  @Option(help: ArgumentHelp("Speed factor, or 'max'.", valueName: "n|max"))
  var speed: PlaybackSpeed = .times(1)
  @Option(help: ArgumentHelp("Skip this many seconds of the recording.", valueName: "seconds"))
  var start: Int?

  func validate() throws {
    if let start, !(0...1_000_000_000).contains(start) {
      throw ValidationError("--start must be a number of seconds, 0 or more")
    }
  }

  func run(_ context: Context) async throws {
    var request = StartTaskRequest(
      kind: .replay, recording: recording, room: room?.description)
    if case .times(let factor) = speed { request.speed = factor }
    request.startMs = start.map { $0 * 1_000 }
    try await TaskRun(request: request).show(context)
  }
}

struct RecordExportVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Print the events of a recording.",
    discussion: "Native events, one per line, as accepted by 'ingest'.")

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the recording.", completion: .recordings) var recording: String

  func run(_ context: Context) async throws {
    let request = StartTaskRequest(kind: .export, recording: recording)
    _ = try await TaskRun(request: request).run(context)
  }
}

struct TasksVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "tasks", abstract: "List the running tasks.",
    discussion: "JSON: an array of objects with task, kind, subject, percent and startedAt.")

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(_ context: Context) async throws {
    let tasks = try await context.withDaemon { try await $0.listTasks().tasks }
    try context.print(JSONValue(encoding: tasks)) {
      guard !tasks.isEmpty else { return ["no task is running"] }
      var table = TextTable([
        ("TASK", .left), ("KIND", .left), ("SUBJECT", .left), ("DONE", .right), ("STARTED", .left),
      ])
      for task in tasks {
        table.append([
          TerminalText.sanitized(task.task), task.kind.rawValue,
          TerminalText.sanitized(task.subject), task.percent.map { "\($0)%" } ?? "-",
          Format.time(milliseconds: task.startedAt),
        ])
      }
      return table.lines(columns: context.console.columns)
    }
  }
}

struct CancelVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "Cancel a running task.",
    discussion: "JSON: an object with the member task.")

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the task; 'tasks' lists them.", completion: .tasks) var task: String

  func run(_ context: Context) async throws {
    try await context.withDaemon { try await $0.cancelTask(task) }
    try context.print(["task": .string(task)]) { [] }
  }
}

/// A task in the daemon, with a progress bar in this program. When this program ends, its
/// connection closes, and the daemon cancels the task.
private struct TaskRun {
  let request: StartTaskRequest

  /// Runs the task and prints its result.
  func show(_ context: Context) async throws {
    let reply = try await run(context)
    try context.print(reply.result ?? .null) {
      (reply.lines ?? []).map { TerminalText.sanitized($0) }
    }
  }

  /// Runs the task, writes partial results to standard output, and returns the last reply.
  func run(_ context: Context) async throws -> TaskReply {
    let bar = PercentBar(context.console)
    defer { bar.clear() }
    return try await context.withDaemon { client in
      var last: TaskReply?
      for try await reply in try client.startTask(request) {
        if let percent = reply.percent { bar.show(percent) }
        if let text = reply.text { try context.console.write(Array(text.utf8)) }
        last = reply
      }
      guard let last, last.result != nil else { throw Failure(.failed, "the task was cancelled") }
      return last
    }
  }
}
