public import JSON

/// What a task does.
public enum TaskKind: String, Codable, Sendable, CaseIterable {
  /// Plays a recording into a room.
  case replay
  /// Gives the events of a recording.
  case export
  case highlights, spam, chatters
}

/// The parameters of `StartTask`.
public struct StartTaskRequest: Codable, Sendable, Equatable {
  public var kind: TaskKind
  /// The recording to work on; nil means the history of `room`.
  public var recording: String?
  /// The room to play into, or whose history is analysed.
  public var room: String?
  /// For a replay: how many times as fast as it was; nil means as fast as possible.
  public var speed: Double?
  /// Where to begin, in milliseconds from the beginning of the recording.
  public var startMs: Int?

  public init(kind: TaskKind, recording: String? = nil, room: String? = nil) {
    self.kind = kind
    self.recording = recording
    self.room = room
  }
}

/// A reply of `StartTask`: progress, parts of the result, and at last the result.
public struct TaskReply: Codable, Sendable, Equatable {
  /// Name of the task, for `CancelTask`.
  public var task: String
  /// The share done; nil if the whole is not known.
  public var percent: Int?
  /// A part of the result of an export: whole lines.
  public var text: String?
  /// What came of it, in the last reply.
  public var result: JSONValue?
  /// The same as lines for people.
  public var lines: [String]?

  public init(task: String, percent: Int? = nil) {
    self.task = task
    self.percent = percent
  }
}

/// An element of the reply of `ListTasks`.
public struct TaskReport: Codable, Sendable, Equatable {
  public var task: String
  public var kind: TaskKind
  /// The recording or the room that it works on.
  public var subject: String
  public var percent: Int?
  /// Milliseconds since 1970.
  public var startedAt: Int

  public init(task: String, kind: TaskKind, subject: String, percent: Int?, startedAt: Int) {
    self.task = task
    self.kind = kind
    self.subject = subject
    self.percent = percent
    self.startedAt = startedAt
  }
}

struct ListTasksReply: Codable, Sendable { let tasks: [TaskReport] }

struct CancelTaskParameters: Codable, Sendable { let task: String }
