import ArgumentParser
import ControlInterface
import JSON
import TerminalScreen
import Varlink

struct ReloadVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "reload", abstract: "Make the daemon reload its configuration.",
    discussion: """
      Returns once the configuration is in effect. Connections, rooms and events are unaffected. \
      If the configuration is invalid, exits with 78, and the old configuration stays in effect.

      JSON: an object with the member reloaded.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(_ context: Context) async throws {
    try await context.withDaemon { client in
      do {
        try await client.reload()
      } catch VarlinkClientError.remote(let error) {
        guard let refusal = ReloadFailure(error) else { throw VarlinkClientError.remote(error) }
        throw Failure(.configuration, TerminalText.sanitized(refusal.message))
      }
    }
    try context.print(["reloaded": true]) { [] }
  }
}

struct LogLevelVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "log-level", abstract: "Show or change the daemon's log level.",
    discussion: """
      A changed level lasts until the next reload or restart. JSON: an object with the member \
      logLevel.
      """)

  enum Level: String, CaseIterable, ExpressibleByArgument {
    case trace, debug, info, notice, warning, error, critical

    /// The syslog number of the level; 8 for trace, which syslog does not have.
    var number: Int {
      switch self {
      case .trace: 8
      case .debug: 7
      case .info: 6
      case .notice: 5
      case .warning: 4
      case .error: 3
      case .critical: 2
      }
    }
  }

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Least severe messages to log. Without a level, the current one is shown.")
  var level: Level?

  func run(_ context: Context) async throws {
    let now = try await context.withDaemon { client in
      if let level { try await client.setLogLevel(level.number) }
      return try await client.getStatus().logLevel
    }
    try context.print(["logLevel": .string(now)]) { [now] }
  }
}
