import LiveEvents
import Logging
import RateLimiting
import Throttling
package import YAMLReader

/// A key of the daemon's configuration file. All keys are listed in ``all``.
package struct ConfigurationKey: FileKey {
  package static let program = "livehostd"

  package let path: String
  package let summary: String
  package let defaultValue: String
  package let read: @Sendable (YAMLNode, inout Configuration) throws(ConfigurationError) -> Void
}

extension ConfigurationKey {
  package static let all: [ConfigurationKey] =
    [
      ConfigurationKey(
        path: "log.level",
        summary:
          "Least severe messages to log: trace, debug, info, notice, warning, error or critical.",
        defaultValue: "info"
      ) { value, configuration throws(ConfigurationError) in
        let names = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
        guard let level = value.scalar.flatMap(Logger.Level.init(rawValue:)) else {
          throw value.problem("expected one of \(names)")
        }
        configuration.logLevel = level
      },
      ConfigurationKey(
        path: "lanes",
        summary:
          "Number of lanes (threads that run rooms); auto is the cores minus one, or all of up to two.",
        defaultValue: "auto"
      ) { value, configuration throws(ConfigurationError) in
        configuration.lanes =
          value.scalar == "auto" ? nil : try value.integer(in: 1...256, or: "auto")
      },
      ConfigurationKey(
        path: "rooms.maximum",
        summary:
          "Maximum number of open rooms; --check-config prints how much memory they may use.",
        defaultValue: "64"
      ) { value, configuration throws(ConfigurationError) in
        configuration.rooms.maximumRooms = try value.integer(in: 1...100_000)
      },
      ConfigurationKey(
        path: "rooms.open", summary: "Rooms to open at the start.", defaultValue: "[]"
      ) { value, configuration throws(ConfigurationError) in
        configuration.openRooms = try roomNames(value)
      },
      ConfigurationKey(
        path: "rooms.chatHistory", summary: "Number of chat messages that a room stores.",
        defaultValue: "500"
      ) { value, configuration throws(ConfigurationError) in
        configuration.rooms.chatHistory = try value.integer(in: 1...1_000_000)
      },
      ConfigurationKey(
        path: "rooms.chatWaves",
        summary:
          "Whether to search chats for highlights, and for near-duplicates, which are shown as one.",
        defaultValue: "false"
      ) { value, configuration throws(ConfigurationError) in
        configuration.rooms.analysesChat = try value.boolean()
      },
      ConfigurationKey(
        path: "rooms.reportedMessages",
        summary: "Number of the newest chat messages in the replies of GetRoom and MonitorRoom.",
        defaultValue: "50"
      ) { value, configuration throws(ConfigurationError) in
        configuration.rooms.reportedMessages = try value.integer(in: 0...10_000)
      },
      ConfigurationKey(
        path: "rooms.framesPerSecond",
        summary:
          "Maximum number of frames per second of a room; frames are drawn only after changes.",
        defaultValue: "60"
      ) { value, configuration throws(ConfigurationError) in
        configuration.rooms.framesPerSecond = try value.integer(in: 1...1000)
      },
      ConfigurationKey(
        path: "rooms.requestTimeout",
        summary:
          "Time after which a request that its controller does not answer counts as refused.",
        defaultValue: "5s"
      ) { value, configuration throws(ConfigurationError) in
        configuration.rooms.requestTimeout = .nanoseconds(
          try value.interval(positive: true).nanoseconds)
      },
      ConfigurationKey(
        path: "rooms.views",
        summary:
          "When to evaluate views: always or watched ('why' and hangs then lack data of unwatched rooms).",
        defaultValue: "always"
      ) { value, configuration throws(ConfigurationError) in
        configuration.rooms.views = try value.choice(
          RoomSettings.ViewEvaluation.allCases.map { ($0.rawValue, $0) })
      },
      ConfigurationKey(
        path: "rooms.packAfter",
        summary:
          "Time after which a room without events and viewers hibernates: only its compressed state stays.",
        defaultValue: "10m"
      ) { value, configuration throws(ConfigurationError) in
        let idle = try value.interval(positive: true, or: ("off", Interval(nanoseconds: 0)))
        configuration.rooms.packsAfter =
          idle.nanoseconds == 0 ? nil : .nanoseconds(idle.nanoseconds)
      },
      ConfigurationKey(
        path: "ingest.connections",
        summary:
          "Maximum number of ingest connections; 1/4 is reserved for root and the service's user.",
        defaultValue: "256"
      ) { value, configuration throws(ConfigurationError) in
        configuration.ingestConnections = try value.integer(in: 1...65_536)
      },
      ConfigurationKey(
        path: "control.connections",
        summary:
          "Maximum number of control connections; a user without rights has at most 1/4 of them.",
        defaultValue: "256"
      ) { value, configuration throws(ConfigurationError) in
        configuration.controlConnections = try value.integer(in: 1...65_536)
      },
      ConfigurationKey(
        path: "control.monitors",
        summary:
          "Maximum number of calls with the more flag; a user without rights has at most 1/4 of them.",
        defaultValue: "64"
      ) { value, configuration throws(ConfigurationError) in
        configuration.monitors = try value.integer(in: 1...65_536)
      },
      ConfigurationKey(
        path: "recordings.scrubDays",
        summary:
          "Days after which recordings are checked for damage again, at up to 4 MiB/s; 0 for never.",
        defaultValue: "7"
      ) { value, configuration throws(ConfigurationError) in
        configuration.scrubDays = try value.integer(in: 0...3_650)
      },
    ] + retention + ThrottledKind.allCases.map(throttling)

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
