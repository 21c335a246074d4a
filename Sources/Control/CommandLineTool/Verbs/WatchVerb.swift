import ArgumentParser
import ControlInterface
import LiveEvents
import Varlink

struct WatchVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Show a room live, until q or Ctrl-C.",
    discussion: """
      Takes over the terminal and redraws only what changes; press '?' for the keys. When the daemon \
      restarts, the screen stays and continues. If standard output is not a terminal, prints the room as \
      text, at most once per second, and ends with the daemon. For example:
        livehostctl watch main
        livehostctl watch main chat --rate 2
      JSON: the reply of GetRoom after each change, on one line with --json=short.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Option(
    help: ArgumentHelp(
      """
      Maximum number of updates per second. Default: 10 on a terminal, 1 in other text, unlimited in \
      JSON. Use less on a slow connection.
      """, valueName: "number"))
  var rate: Double?
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: "Show only these features.") var features: [Feature] = []

  func validate() throws {
    if Set(features).count < features.count { throw ValidationError("a feature is given twice") }
    if let rate, !(rate >= 0.001 && rate <= 1_000) {
      throw ValidationError("--rate is a number from 0.001 to 1000")
    }
  }

  func run(_ context: Context) async throws {
    do {
      try await context.withDaemon { client in
        if context.wantsJSON {
          try await printJSON(client, context)
        } else if let terminal = context.console.terminal {
          try await show(client, context, terminal)
        } else {
          try await print(try screens(client, usualRate: 1), context.console)
        }
      }
    } catch let end as WatchEnd {
      try end.report(on: context.console)
    }
  }

  /// - Parameter usualRate: People read no faster than that, and a slow line carries no more.
  private func screens(_ client: ControlClient, usualRate: Double) throws -> Screens {
    try client.monitorScreen(room.description, maximumRate: rate ?? usualRate)
  }

  private var shown: [String] { features.map(\.rawValue) }

  private func show(_ client: ControlClient, _ context: Context, _ terminal: Terminal) async throws
  {
    let model = HostScreenModel(rooms: [room.description], shown: shown)
    var screen = LiveScreen(model, context.console, terminal)
    try await screen.run { inbox in
      try await context.following(
        client, onConnection: { inbox.post(.connection($0), from: HostScreenModel.connection) }
      ) { client, answered in
        do {
          for try await element in try screens(client, usualRate: 10) {
            answered()
            inbox.post(.screen(room: 0, try element.report()))
          }
        } catch VarlinkClientError.remote(let error) {
          throw WatchEnd.meaning(of: error)
        }
      }
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

  private func printJSON(_ client: ControlClient, _ context: Context) async throws {
    let states = try client.monitorRoom(
      room.description, features: features.isEmpty ? nil : features, maximumRate: rate)
    try await Self.follow(states) { try context.streaming.printJSON($0.value) }
  }

  /// - Throws: ``WatchEnd`` if the room or the daemon ends after something was received.
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
      throw WatchEnd.meaning(of: error)
    } catch VarlinkClientError.connectionClosed where hasReceived {
      throw WatchEnd.daemonStopped
    }
  }
}

/// Why the watch ended.
private enum WatchEnd: Error {
  case roomClosed(String)
  case daemonStopped

  /// The same error, unless it means that the room is gone.
  static func meaning(of error: VarlinkError) -> any Error {
    guard case .noSuchRoom(let name)? = ControlError(error) else {
      return VarlinkClientError.remote(error)
    }
    return Self.roomClosed(name)
  }

  func report(on console: Console) throws(Failure) {
    switch self {
    case .roomClosed(let name): console.warn("the room '\(name)' was closed")
    case .daemonStopped: throw Failure(.failed, "the daemon stopped")
    }
  }
}
