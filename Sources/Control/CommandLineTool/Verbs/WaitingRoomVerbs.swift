import ArgumentParser
import ControlInterface
import JSON
import LiveEvents
import TerminalScreen
import Wording

struct AdmitVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "admit", abstract: "Admit people from the waiting room.",
    discussion: """
      Without a user, admits the person who has waited longest. Never exceeds the capacity \
      ('livehostctl capacity'). For example:
        livehostctl admit main
        livehostctl admit main u42
        livehostctl admit main --all
      JSON: an object with people (the id and name of each admitted person), waiting and admitted.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(
    help: "Identifier of a waiting person; 'livehostctl show ROOM waitingRoom' lists them.",
    completion: .waitingPeople)
  var user: HostText?
  @Flag(help: "Admit everyone, up to the capacity.") var all = false

  func validate() throws {
    if all, user != nil { throw ValidationError("name a user or give --all, not both") }
  }

  func run(_ context: Context) async throws {
    let reply = try await context.withDaemon {
      try await $0.admit(
        room: room.description, user: user?.text, all: all ? true : nil)
    }
    try context.print(JSONValue(encoding: reply)) {
      if reply.people.isEmpty { return ["nobody is waiting"] }
      return reply.people.map {
        "let in \(TerminalText.sanitized($0.name)) (\(TerminalText.sanitized($0.id)))"
      }
        + [
          "\(Phrase.waiting(reply.waiting)), \(Phrase.admitted(reply.admitted))"
        ]
    }
  }
}

struct CapacityVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "capacity", abstract: "Limit how many people are admitted.",
    discussion: """
      Limits admissions by the host. People whom the platform admits beyond the limit are still \
      shown. For example:
        livehostctl capacity main 20
        livehostctl capacity main none
      JSON: the waiting room, as in 'show'.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: "Maximum number of people, or 'none'.") var count: Capacity

  func run(_ context: Context) async throws {
    var event: [JSONName: JSONValue] = ["type": "waiting.capacity"]
    if let count = count.count { event["count"] = .integer(Int64(count)) }
    try await context.change(waitingRoomOf: room, by: event)
  }
}

struct PaceVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "pace", abstract: "Admit people automatically, at a rate per second.",
    discussion: """
      Admits the people who have waited longest first, until the capacity is reached ('livehostctl \
      capacity'). For example:
        livehostctl pace main 5
        livehostctl pace main 0.2
        livehostctl pace main none
      JSON: the waiting room, as in 'show'.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: "People per second, from 0.01 to 1000, or 'none'.") var pace: Pace

  func run(_ context: Context) async throws {
    var event: [JSONName: JSONValue] = ["type": "waiting.pace"]
    if let perSecond = pace.perSecond { event["perSecond"] = .number(perSecond) }
    try await context.change(waitingRoomOf: room, by: event)
  }
}

struct ScheduleVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "schedule", abstract: "Set the start time and show a countdown.",
    discussion: """
      The time is a duration from now (90s, 10m, 1h), a local time within the next 24 hours \
      (20:15), or seconds since 1970 as printed by 'date +%s' (@1795260000). For example:
        livehostctl schedule main 10m
        livehostctl schedule main none
      JSON: the waiting room, as in 'show'.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: "When the stream begins, or 'none' if it is unknown.") var time: StartTime

  func run(_ context: Context) async throws {
    var event: [JSONName: JSONValue] = ["type": "waiting.schedule"]
    if let milliseconds = time.milliseconds { event["startsAt"] = .integer(Int64(milliseconds)) }
    try await context.change(waitingRoomOf: room, by: event)
  }
}

extension Context {
  private static func line(_ room: WaitingRoomReport) -> String {
    var parts = [
      Phrase.waiting(room.waiting), Phrase.admitted(room.admitted, of: room.capacity),
    ]
    if let pace = room.perSecond { parts.append(Phrase.pace(pace)) }
    if let seconds = room.secondsLeft { parts.append(Phrase.begins(inSeconds: seconds)) }
    return parts.joined(separator: ", ")
  }

  /// Sends an event to a waiting room, then prints the waiting room's new state.
  fileprivate func change(waitingRoomOf room: RoomName, by event: [JSONName: JSONValue])
    async throws
  {
    let features = try await withDaemon { client in
      // Sending an event opens the room if it does not exist, so this call first checks that the
      // room's name is not mistyped.
      _ = try await client.getRoom(room.description, feature: .waitingRoom)
      _ = try await client.sendEvents(room: room.description, events: [.object(event)])
      return try await client.getRoom(room.description, feature: .waitingRoom).features
    }
    guard let waiting = features.waitingRoom else {
      throw Failure(
        .failed, "the room '\(room)' no longer has a waiting room: its stream is live")
    }
    try print(JSONValue(encoding: waiting)) { [Self.line(waiting)] }
  }
}

/// A text that the host enters, such as a name or an identifier, within the length that the daemon
/// accepts.
struct HostText: ExpressibleByArgument {
  let text: String

  init?(argument: String) {
    guard (1...EventLimits.nameLength).contains(argument.utf8.count) else { return nil }
    text = argument
  }
}

/// A number of people admitted per second, as an argument; nil for `none`.
struct Pace: ExpressibleByArgument {
  let perSecond: Double?

  init?(argument: String) {
    perSecond = Double(argument).flatMap { WaitingRoomEvent.pace.contains($0) ? $0 : nil }
    guard perSecond != nil || argument == "none" else { return nil }
  }
}

/// A maximum number of people, as an argument; nil for no limit.
struct Capacity: ExpressibleByArgument {
  let count: Int?

  init?(argument: String) {
    count = Int(argument).flatMap { (0...1_000_000_000).contains($0) ? $0 : nil }
    guard count != nil || argument == "none" else { return nil }
  }
}
