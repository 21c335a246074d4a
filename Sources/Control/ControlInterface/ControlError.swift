import JSON
public import Varlink

/// The errors of `io.livehost.Control`.
public enum ControlError: Equatable, Sendable {
  case noSuchRoom(String)
  case roomExists(String)
  /// No view of that name was ever on the room's screen.
  case noSuchView(room: String, view: String)
  /// A scenario or a device profile is wrong: where, and what to do.
  case invalidScenario(file: String, line: Int?, key: String?, message: String)
  case noSuchRecording(String)
  case noSuchTask(String)
  /// `CancelTask` ended it.
  case taskCancelled(String)
  case alreadyRecording(String)
  case notRecording(String)
  /// A recording could not be begun or could not go on.
  case recordingFailed(room: String, reason: String)
  /// An element of `SendEvents` is malformed; `reason` is the name of a rejection.
  case invalidEvent(index: Int, reason: String)
  /// The configuration allows no more of what the limit names.
  case limitReached(String)
  case busy
  /// Nobody waits to be let in, or not the one who was named.
  case nobodyWaits(room: String, user: String?)
  /// As many were let in as the waiting room's capacity allows.
  case roomFull(room: String, capacity: Int)
  /// The chat keeps no message with that identifier.
  case noSuchMessage(room: String, message: String)
  /// The chat shows no notice with that number.
  case noSuchNotice(room: String, notice: Int)
}

extension ControlError: VarlinkErrorConvertible {
  private static let prefix = "io.livehost.Control."

  public var varlinkError: VarlinkError {
    switch self {
    case .noSuchRoom(let name): Self.error("NoSuchRoom", ["room": .string(name)])
    case .roomExists(let name): Self.error("RoomExists", ["room": .string(name)])
    case .noSuchView(let room, let view):
      Self.error("NoSuchView", ["room": .string(room), "view": .string(view)])
    case .invalidScenario(let file, let line, let key, let message):
      Self.error(
        "InvalidScenario",
        [
          "file": .string(file), "line": line.map { .integer(Int64($0)) } ?? .null,
          "key": key.map(JSONValue.string) ?? .null, "message": .string(message),
        ])
    case .noSuchRecording(let name):
      Self.error("NoSuchRecording", ["recording": .string(name)])
    case .noSuchTask(let name): Self.error("NoSuchTask", ["task": .string(name)])
    case .taskCancelled(let name): Self.error("TaskCancelled", ["task": .string(name)])
    case .alreadyRecording(let room): Self.error("AlreadyRecording", ["room": .string(room)])
    case .notRecording(let room): Self.error("NotRecording", ["room": .string(room)])
    case .recordingFailed(let room, let reason):
      Self.error("RecordingFailed", ["room": .string(room), "reason": .string(reason)])
    case .invalidEvent(let index, let reason):
      Self.error("InvalidEvent", ["index": .integer(Int64(index)), "reason": .string(reason)])
    case .limitReached(let limit): Self.error("LimitReached", ["limit": .string(limit)])
    case .busy: Self.error("Busy", [:])
    case .nobodyWaits(let room, let user):
      Self.error(
        "NobodyWaits",
        ["room": .string(room), "user": user.map(JSONValue.string) ?? .null])
    case .roomFull(let room, let capacity):
      Self.error("RoomFull", ["room": .string(room), "capacity": .integer(Int64(capacity))])
    case .noSuchMessage(let room, let message):
      Self.error("NoSuchMessage", ["room": .string(room), "message": .string(message)])
    case .noSuchNotice(let room, let notice):
      Self.error("NoSuchNotice", ["room": .string(room), "notice": .integer(Int64(notice))])
    }
  }

  private static func error(_ name: String, _ parameters: [String: JSONValue]) -> VarlinkError {
    VarlinkError(name: prefix + name, parameters: parameters)
  }

  /// The typed form of a received error; nil if it is none of this interface.
  public init?(_ error: VarlinkError) {
    func text(_ name: String) -> String { error.parameters[name]?.stringValue ?? "" }
    func number(_ name: String) -> Int {
      error.parameters[name]?.integerValue.map { Int(clamping: $0) } ?? 0
    }
    guard error.name.hasPrefix(Self.prefix) else { return nil }
    switch error.name.dropFirst(Self.prefix.count) {
    case "NoSuchRoom": self = .noSuchRoom(text("room"))
    case "RoomExists": self = .roomExists(text("room"))
    case "NoSuchView": self = .noSuchView(room: text("room"), view: text("view"))
    case "InvalidScenario":
      self = .invalidScenario(
        file: text("file"),
        line: error.parameters["line"]?.integerValue.map { Int(clamping: $0) },
        key: error.parameters["key"]?.stringValue, message: text("message"))
    case "NoSuchRecording": self = .noSuchRecording(text("recording"))
    case "NoSuchTask": self = .noSuchTask(text("task"))
    case "TaskCancelled": self = .taskCancelled(text("task"))
    case "AlreadyRecording": self = .alreadyRecording(text("room"))
    case "NotRecording": self = .notRecording(text("room"))
    case "RecordingFailed": self = .recordingFailed(room: text("room"), reason: text("reason"))
    case "InvalidEvent":
      let index = error.parameters["index"]?.integerValue ?? 0
      self = .invalidEvent(index: Int(clamping: index), reason: text("reason"))
    case "LimitReached": self = .limitReached(text("limit"))
    case "Busy": self = .busy
    case "NobodyWaits":
      self = .nobodyWaits(room: text("room"), user: error.parameters["user"]?.stringValue)
    case "RoomFull": self = .roomFull(room: text("room"), capacity: number("capacity"))
    case "NoSuchMessage":
      self = .noSuchMessage(room: text("room"), message: text("message"))
    case "NoSuchNotice": self = .noSuchNotice(room: text("room"), notice: number("notice"))
    default: return nil
    }
  }
}
