import ArgumentParser
import ControlInterface
import LiveEvents
import Varlink

struct WatchVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Show a room as it changes, until q or Ctrl-C.",
    discussion: """
      On a terminal a screen of six panes, of which only what changes is sent; '?' tells its keys.
      Elsewhere the room as text, once a second at most. For instance:
        livehostctl watch main
        livehostctl watch main chat --rate 2
      JSON: the object of GetRoom for each change, on one line with --json=short.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Option(
    help: ArgumentHelp(
      """
      Changes per second at most: 10 on a terminal, 1 in other text, all of them in JSON. Less is \
      better on a slow line.
      """, valueName: "number"))
  var rate: Double?
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: "The features to show; without any, all.") var features: [Feature] = []

  func validate() throws {
    if Set(features).count < features.count { throw ValidationError("a feature is named twice") }
    if let rate, !(rate >= 0.001 && rate <= 1_000) {
      throw ValidationError("--rate is a number from 0.001 to 1000")
    }
  }

  func run(_ context: Context) async throws {
    let console = context.console
    let isText = !context.wantsJSON
    do {
      try await context.withDaemon { client in
        // People read no faster than that, and a slow line carries no more.
        let usual: Double? = isText ? (console.terminal == nil ? 1 : 10) : nil
        let states = try client.monitorRoom(
          room.description, features: features.isEmpty ? nil : features,
          maximumRate: rate ?? usual)
        if isText, let terminal = console.terminal {
          try await show(states, console, terminal)
        } else {
          try await print(states, context)
        }
      }
    } catch let end as WatchEnd {
      try end.tell(console)
    }
  }

  private func show(_ states: RoomStates, _ console: Console, _ terminal: Terminal) async throws {
    let model = HostScreenModel(rooms: [room.description], features: features)
    var screen = LiveScreen(model, console, terminal)
    try await screen.run { inbox in
      try await Self.follow(states) { state in
        inbox.post(HostScreenModel.News(report: try state.report()))
      }
    }
  }

  private func print(_ states: RoomStates, _ context: Context) async throws {
    var last: [String] = []
    try await Self.follow(states) { state in
      if context.wantsJSON { return try context.streaming.printJSON(state.room) }
      let text = RoomScreen(try state.report(), features: features)
        .lines(columns: context.console.columns, rows: nil)
      if text != last { try context.console.writeLine((text + [""]).joined(separator: "\n")) }
      last = text
    }
  }

  /// - Throws: ``WatchEnd`` if the room or the daemon ends after it was seen.
  private static func follow(
    _ states: RoomStates, _ body: (RoomStates.Element) throws -> Void
  ) async throws {
    var hasSeen = false
    do {
      for try await state in states {
        hasSeen = true
        try body(state)
      }
    } catch VarlinkClientError.remote(let error) where hasSeen {
      guard case .noSuchRoom(let name)? = ControlError(error) else {
        throw VarlinkClientError.remote(error)
      }
      throw WatchEnd.roomClosed(name)
    } catch VarlinkClientError.connectionClosed where hasSeen {
      throw WatchEnd.daemonStopped
    }
  }
}

/// Why there is no more to watch.
private enum WatchEnd: Error {
  case roomClosed(String)
  case daemonStopped

  func tell(_ console: Console) throws(Failure) {
    switch self {
    case .roomClosed(let name): console.warn("the room '\(name)' was closed")
    case .daemonStopped: throw Failure(.failed, "the daemon stopped")
    }
  }
}
