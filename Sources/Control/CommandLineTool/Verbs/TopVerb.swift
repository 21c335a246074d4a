import ArgumentParser
import ControlInterface
import JSON
import TerminalScreen
import Varlink

struct TopVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "top", abstract: "Show the busiest rooms and views live, until q or Ctrl-C.",
    discussion: """
      Takes over the terminal; press '?' for the keys. The tables continue after a restart of the \
      daemon. Enter watches the room of the selected row. LOAD is the share of time spent in a \
      view; AVOIDABLE is the number of its evaluations that changed nothing. With --once, or if \
      standard output is not a terminal, prints the rates over one interval and exits. For \
      example:
        livehostctl top --sort pending
        livehostctl top --once --json=short
      JSON: one object with status, rooms, views and roomsWithoutViews.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Flag(help: "Print the tables once, after one interval.") var once = false
  @Option(help: ArgumentHelp("Refresh interval in seconds.", valueName: "seconds"))
  var interval = 1.0
  @Option(help: ArgumentHelp("Sort rooms by this column.", valueName: "column"))
  var sort = RoomColumn.rate
  @Option(help: ArgumentHelp("Sort views by this column.", valueName: "column"))
  var sortViews = ViewColumn.load
  @Flag(help: "Reverse the sort order.") var reverse = false

  func validate() throws {
    guard interval >= 0.1, interval <= 86_400 else {
      throw ValidationError("--interval must be a number of seconds from 0.1 to 86400")
    }
  }

  private var order: TopOrder { TopOrder(rooms: sort, views: sortViews, isReversed: reverse) }

  func run(_ context: Context) async throws {
    guard let terminal = context.console.terminal, !once, !context.wantsJSON else {
      return try await context.withDaemon { try await print($0, context) }
    }
    let chosen = try await context.withDaemon { try await show($0, context, terminal) }
    guard let chosen else { return }
    // Watching the room needs a new connection. The old connection cannot be used, because a call
    // on it was cancelled, or because it was lost when the daemon restarted.
    try await context.withDaemon {
      try await WatchVerb.show(room: chosen, $0, context, terminal)
    }
  }

  private func print(_ client: ControlClient, _ context: Context) async throws {
    let first = try await TopSample(client, now: context.environment.now, after: nil)
    try await context.environment.sleep(.seconds(interval))
    let second = try await TopSample(client, now: context.environment.now, after: first)
    let report = order.sorted(second.report(since: first))
    try context.print(JSONValue(encoding: report)) {
      TopText.lines(report, order, columns: context.console.columns)
    }
  }

  /// Shows the tables until the user leaves or chooses a room. Returns the chosen room, or `nil` if
  /// the user left.
  private func show(
    _ client: ControlClient, _ context: Context, _ terminal: Terminal
  ) async throws -> String? {
    let environment = context.environment
    var screen = LiveScreen(
      model: TopScreenModel(order), console: context.console, terminal: terminal)
    try await screen.run { inbox in
      try await context.following(
        client, onConnection: { inbox.post(.connection($0), from: TopScreenModel.connection) }
      ) { client, answered in
        // After a reconnection, the previous sample is dropped, because rates across the outage
        // would be wrong.
        var last: TopSample?
        while true {
          let sample = try await TopSample(client, now: environment.now, after: last)
          answered()
          inbox.post(.report(sample.report(since: last)))
          last = sample
          try await environment.sleep(.seconds(interval))
        }
      }
    }
    return screen.model.chosen
  }
}
