import ArgumentParser
import ControlInterface
import JSON
import LiveEvents
import TerminalScreen

struct ShowVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show the state of a room, or of one of its features.",
    discussion: "JSON: the reply of GetRoom in the control interface.")

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: "Show only this feature.") var feature: Feature?

  func run(_ context: Context) async throws {
    if context.wantsJSON {
      // The reply is printed without being decoded, so that members that this program does not know
      // are shown.
      let reply = try await context.withDaemon {
        try await $0.getRoomJSON(room.description, feature: feature)
      }
      try context.print(reply) { [] }
    } else {
      let screen = try await context.withDaemon { try await $0.getScreen(room.description) }
      try context.print(.null) {
        context.console.lines(of: screen, shown: feature.map { [$0.rawValue] } ?? [])
      }
    }
  }
}
