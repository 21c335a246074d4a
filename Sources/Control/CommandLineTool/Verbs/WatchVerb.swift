import ArgumentParser
import ControlInterface
import LiveEvents
import Varlink

struct WatchVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Show a room as it changes, until Ctrl-C.",
    discussion: """
      Redraws the screen on a terminal. JSON: the object of GetRoom for each change, on one line
      with --json=short.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: "The features to show; without any, all.") var features: [Feature] = []

  func validate() throws {
    if Set(features).count < features.count { throw ValidationError("a feature is named twice") }
  }

  func run(_ context: Context) async throws {
    try await context.withDaemon { client in
      // People read no faster than that, and a slow line carries no more.
      let states = try client.monitorRoom(
        room.description, features: features.isEmpty ? nil : features,
        maximumRate: context.wantsJSON ? nil : context.console.isOutputTerminal ? 10 : 1)
      try await Self.show(states, context)
    }
  }

  private static func show(_ states: RoomStates, _ context: Context) async throws {
    var display = LiveDisplay(context.console)
    defer { display.close() }
    var hasSeen = false
    do {
      for try await state in states {
        hasSeen = true
        if context.wantsJSON {
          try context.printJSON(state.room)
        } else {
          let screen = RoomScreen(try state.report())
          try display.draw { columns, rows in screen.lines(columns: columns, rows: rows) }
        }
      }
    } catch VarlinkClientError.remote(let error) where hasSeen {
      guard case .noSuchRoom(let name)? = ControlError(error) else {
        throw VarlinkClientError.remote(error)
      }
      display.close()
      context.console.warn("the room '\(name)' was closed")
    } catch VarlinkClientError.connectionClosed where hasSeen {
      display.close()
      throw Failure(.failed, "the daemon stopped")
    }
  }
}
