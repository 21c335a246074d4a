import ArgumentParser
import ControlInterface
import JSON
import LiveEvents
import TerminalScreen
import Wording

struct RoomsVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "rooms", abstract: "List the open rooms.",
    discussion: "JSON: an array of objects with room, phase, viewers and counters.")

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(_ context: Context) async throws {
    let rooms = try await context.withDaemon { try await $0.listRooms().rooms }
    try context.print(JSONValue(encoding: rooms)) {
      RoomList.lines(rooms, columns: context.console.columns)
    }
  }
}

struct OpenVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "open", abstract: "Open a room.",
    discussion: "JSON: an object with the member room.")

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room: [a-z0-9_][a-z0-9_.-]{0,63}.", completion: .list([]))
  var room: RoomName

  func run(_ context: Context) async throws {
    try await context.withDaemon { try await $0.openRoom(room.description) }
    try context.print(["room": .string(room.description)]) { [] }
  }
}

struct CloseVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "close", abstract: "Close a room.",
    discussion: "JSON: an object with the member room.")

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName

  func run(_ context: Context) async throws {
    try await context.withDaemon { try await $0.closeRoom(room.description) }
    try context.print(["room": .string(room.description)]) { [] }
  }
}

struct SendVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "send", abstract: "Send one event to a room.",
    discussion: """
      Returns once the event has been applied. Opens the room if it is not open, unless its name \
      closely resembles the name of an open room. For example:
        livehostctl send main '{"type":"viewers","count":12}'
      JSON: an object with the members received and rejected. livehost-events(5) lists the events.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: ArgumentHelp("The event as a JSON object.", valueName: "event-json"))
  var event: String

  func run(_ context: Context) async throws {
    let value = try parsedEvent()
    let name = room.description
    let reply = try await context.withDaemon { client in
      let rooms = try await client.listRooms().rooms.map(\.room)
      if !rooms.contains(name), let near = Spelling.misspelled(name, among: rooms) {
        throw Failure(
          .failed,
          "there is no room '\(name)'; did you mean '\(near)'? 'livehostctl open \(name)' opens it")
      }
      return try await client.sendEvents(room: name, events: [value])
    }
    try context.print(JSONValue(encoding: reply)) { [] }
    if reply.rejected > 0 {
      context.console.warn("the event was valid but was rejected, for example as a duplicate")
    }
  }

  private func parsedEvent() throws(Failure) -> JSONValue {
    let value: JSONValue
    do {
      value = try JSONValue(parsing: event)
    } catch {
      throw Failure(.badData, "the event is not valid JSON: \(error.explanation)")
    }
    guard let members = value.objectValue else {
      throw Failure(.badData, "the event is not a JSON object")
    }
    guard members["type"]?.stringValue != nil else {
      throw Failure(.badData, "the event has no \"type\"")
    }
    if let named = members["room"], named != .string(room.description) {
      throw Failure(.badData, "the event names another room: \(named)")
    }
    return value
  }
}
