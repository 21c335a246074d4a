import LiveEvents
import Logging
import RateLimiting
import Rooms
import Throttling
package import YAMLReader

extension Configuration: FileConfiguration {
  package static let program = "livehostd"

  package static let keys: [FileKey<Configuration>] =
    [
      .value(
        "log.level",
        "Least severe messages to log: trace, debug, info, notice, warning, error or critical.",
        \.logLevel, default: "info"
      ) { value throws(ConfigurationError) in
        let names = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
        guard let level = value.scalar.flatMap(Logger.Level.init(rawValue:)) else {
          throw value.problem("expected one of \(names)")
        }
        return level
      },
      .value(
        "lanes",
        "Number of lanes (threads that run rooms); auto is cores minus one, or all cores if at most two.",
        \.lanes, default: "auto"
      ) { value throws(ConfigurationError) in
        value.scalar == "auto" ? nil : try value.integer(in: 1...256, or: "auto")
      },
      .integer(
        "rooms.maximum",
        "Maximum number of open rooms; --check-config prints how much memory they may use.",
        \.rooms.maximumRooms, in: 1...100_000),
      .value(
        "rooms.open", "Rooms to open at the start.", \.openRooms, default: "[]", read: roomNames),
      .integer(
        "rooms.chatHistory", "Number of chat messages that a room stores.", \.rooms.chatHistory,
        in: 1...1_000_000),
      .boolean(
        "rooms.chatWaves",
        "Whether to search chats for highlights, and for near-duplicates, which are shown as one.",
        \.rooms.analysesChat),
      .integer(
        "rooms.reportedMessages",
        "Number of the newest chat messages in the replies of GetRoom and MonitorRoom.",
        \.rooms.reportedMessages, in: 0...10_000),
      .integer(
        "rooms.framesPerSecond",
        "Maximum number of frames per second of a room; frames are drawn only after changes.",
        \.rooms.framesPerSecond, in: 1...1000),
      .value(
        "rooms.requestTimeout",
        "Time after which a request that its controller does not answer counts as refused.",
        \.rooms.requestTimeout, default: "5s"
      ) { value throws(ConfigurationError) in
        .nanoseconds(try value.interval(positive: true).nanoseconds)
      },
      .value(
        "rooms.views",
        "When to evaluate views: always, or watched (then 'why' and hangs lack data of unwatched rooms).",
        \.rooms.views, default: "always"
      ) { value throws(ConfigurationError) in
        try value.choice(RoomSettings.ViewEvaluation.allCases.map { ($0.rawValue, $0) })
      },
      .value(
        "rooms.packAfter",
        "Time after which a room without events and viewers hibernates: its state is kept compressed.",
        \.rooms.hibernatesAfter, default: "10m"
      ) { value throws(ConfigurationError) in
        let idle = try value.interval(positive: true, or: ("off", Interval(nanoseconds: 0)))
        return idle.nanoseconds == 0 ? nil : .nanoseconds(idle.nanoseconds)
      },
      .integer(
        "ingest.connections",
        "Maximum number of ingest connections; 1/4 is reserved for root and the service's user.",
        \.ingestConnections, in: 1...65_536),
      .integer(
        "control.connections",
        "Maximum number of control connections; a user without rights has at most 1/4 of them.",
        \.controlConnections, in: 1...65_536),
      .integer(
        "control.monitors",
        "Maximum number of calls with the more flag; a user without rights has at most 1/4 of them.",
        \.monitors, in: 1...65_536),
      .integer(
        "recordings.scrubDays",
        "Days after which recordings are checked for damage again, at up to 4 MiB/s; 0 for never.",
        \.scrubDays, in: 0...3_650),
    ] + retentionKeys + ThrottledKind.allCases.map(throttlingKey)

  private static func roomNames(_ value: YAMLNode) throws(ConfigurationError) -> [String] {
    guard case .list(let elements) = value.content else {
      throw value.problem("expected a list of room names")
    }
    var names: [String] = []
    for element in elements {
      guard let name = element.scalar, RoomName(name) != nil else {
        throw value.problem(
          "'\(element.scalar ?? "?")' is not a room name: [a-z0-9_][a-z0-9_.-]{0,63}")
      }
      names.append(name)
    }
    return names
  }
}
