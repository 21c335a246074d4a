import ArgumentParser
import ControlInterface
import LiveEvents
import TerminalScreen
import Varlink

struct WatchVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Show a room live and act on it, until q or Ctrl-C.",
    discussion: """
      Takes over the terminal and redraws only what changes; press '?' for the keys. The screen \
      stays during a restart of the daemon and then continues. If standard output is not a \
      terminal, prints the room as text, at most once per second, and exits when the daemon stops. \
      For example:
        livehostctl watch
        livehostctl watch main
        livehostctl watch main chat --rate 2
      JSON: the reply of GetRoom after each change, on one line with --json=short.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Option(
    help: ArgumentHelp(
      """
      Maximum number of updates per second. Default: 10 on a terminal, 1 for other text, unlimited \
      for JSON. Use a lower rate on a slow connection.
      """, valueName: "number"))
  var rate: Double?
  @Argument(help: "Name of the room. Without a name, the rooms are listed to choose from.")
  var room: RoomName?
  @Argument(help: "Show only these features.") var features: [Feature] = []

  func validate() throws {
    if Set(features).count < features.count { throw ValidationError("a feature is given twice") }
    if let rate, !(rate >= 0.001 && rate <= 1_000) {
      throw ValidationError("--rate must be a number from 0.001 to 1000")
    }
  }

  func run(_ context: Context) async throws {
    do {
      try await context.withDaemon { client in
        if !context.wantsJSON, let terminal = context.console.terminal {
          return try await Self.show(
            room: room?.description, shown: shown, rate: rate ?? 10, client, context, terminal)
        }
        guard let room else {
          throw Failure(
            .usage,
            "without a terminal, watch needs the name of a room; 'livehostctl rooms' lists them")
        }
        if context.wantsJSON {
          try await printJSON(room, client, context)
        } else {
          try await print(
            try client.monitorScreen(room.description, maximumRate: rate ?? 1), context.console)
        }
      }
    } catch let end as WatchEnd {
      try end.report(on: context.console)
    }
  }

  private var shown: [String] { features.map(\.rawValue) }

  /// Shows a room on a terminal until the user leaves. If `room` is nil, the user chooses a room
  /// from a list.
  static func show(
    room: String?, shown: [String] = [], rate: Double = 10, _ client: ControlClient,
    _ context: Context, _ terminal: Terminal
  ) async throws {
    let model = HostScreenModel(rooms: room.map { [$0] } ?? [], shown: shown, hasList: true)
    var screen = LiveScreen(model: model, console: context.console, terminal: terminal)
    try await screen.run { inbox in
      try await WatchSource(context, room: room, rate: rate, inbox).run(client)
    }
  }

  private func print(_ screens: Screens, _ console: Console) async throws {
    var last: [String] = []
    try await Self.follow(screens) { element in
      let text = console.lines(of: try element.report(), shown: shown)
      if text != last { try console.writeLine((text + [""]).joined(separator: "\n")) }
      last = text
    }
  }

  private func printJSON(_ room: RoomName, _ client: ControlClient, _ context: Context) async throws
  {
    let states = try client.monitorRoom(
      room.description, features: features.isEmpty ? nil : features, maximumRate: rate)
    try await Self.follow(states) { try context.streaming.printJSON($0.value) }
  }

  /// Passes each reply of a monitoring call to `body`. Throws ``WatchEnd`` if the room or the
  /// daemon ends after the first reply.
  private static func follow<Replies: AsyncSequence>(
    _ replies: Replies, _ body: (Replies.Element) throws -> Void
  ) async throws {
    var hasReceived = false
    do {
      for try await reply in replies {
        hasReceived = true
        try body(reply)
      }
    } catch VarlinkClientError.remote(let error) where hasReceived {
      throw WatchEnd.cause(of: error)
    } catch VarlinkClientError.connectionClosed where hasReceived {
      throw WatchEnd.daemonStopped
    }
  }
}
