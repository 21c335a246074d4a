import Intake
import Logging
import Yams

/// One key of the configuration file: its name, what it means, and how it is read.
///
/// The table below is the only place where keys are declared. The commented default file, the manual
/// and the check for unknown keys come from it.
package struct ConfigurationKey: Sendable {
  /// Path with dots, such as `rooms.maximum`.
  package let path: String
  /// What it means, in a sentence.
  package let meaning: String
  /// Its default, as it would be written.
  package let standard: String
  let read: @Sendable (Node, inout Configuration) throws(ConfigurationProblem) -> Void
}

/// What is wrong with a value.
struct ConfigurationProblem: Error {
  let message: String
  /// The key within the value that is at fault, and its line; `nil` if it is the value as a whole.
  var key: String?
  var line: Int?
}

extension ConfigurationKey {
  package static let all: [ConfigurationKey] =
    [
      ConfigurationKey(
        path: "log.level",
        meaning:
          "Least severe messages to log: trace, debug, info, notice, warning, error or critical.",
        standard: "info"
      ) { node, configuration throws(ConfigurationProblem) in
        let names = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
        guard let level = node.string.flatMap(Logger.Level.init(rawValue:)) else {
          throw ConfigurationProblem(message: "expected one of \(names)")
        }
        configuration.logLevel = level
      },
      ConfigurationKey(
        path: "lanes",
        meaning: "Threads that rooms are spread over; auto is one less than there are cores.",
        standard: "auto"
      ) { node, configuration throws(ConfigurationProblem) in
        configuration.lanes =
          node.string == "auto" ? nil : try integer(node, in: 1...256, or: "auto")
      },
      ConfigurationKey(
        path: "rooms.maximum", meaning: "How many rooms may be open at once.", standard: "64"
      ) { node, configuration throws(ConfigurationProblem) in
        configuration.rooms.maximumRooms = try integer(node, in: 1...100_000)
      },
      ConfigurationKey(
        path: "rooms.open", meaning: "Rooms to open at the start.", standard: "[]"
      ) { node, configuration throws(ConfigurationProblem) in
        configuration.openRooms = try roomNames(node)
      },
      ConfigurationKey(
        path: "rooms.chatHistory", meaning: "How many chat messages a room keeps.", standard: "500"
      ) { node, configuration throws(ConfigurationProblem) in
        configuration.rooms.chatHistory = try integer(node, in: 1...1_000_000)
      },
      ConfigurationKey(
        path: "rooms.reportedMessages",
        meaning: "How many of the newest chat messages GetRoom and MonitorRoom show.",
        standard: "50"
      ) { node, configuration throws(ConfigurationProblem) in
        configuration.rooms.reportedMessages = try integer(node, in: 0...10_000)
      },
      ConfigurationKey(
        path: "rooms.framesPerSecond",
        meaning: "How often a room is drawn at most, while something changes.", standard: "60"
      ) { node, configuration throws(ConfigurationProblem) in
        configuration.rooms.framesPerSecond = try integer(node, in: 1...1000)
      },
      ConfigurationKey(
        path: "ingest.connections", meaning: "Connections to the ingest socket at once.",
        standard: "256"
      ) { node, configuration throws(ConfigurationProblem) in
        configuration.ingestConnections = try integer(node, in: 1...65_536)
      },
      ConfigurationKey(
        path: "control.connections", meaning: "Connections to the control socket at once.",
        standard: "256"
      ) { node, configuration throws(ConfigurationProblem) in
        configuration.controlConnections = try integer(node, in: 1...65_536)
      },
      ConfigurationKey(
        path: "control.monitors", meaning: "Calls with the more flag under way at once.",
        standard: "64"
      ) { node, configuration throws(ConfigurationProblem) in
        configuration.monitors = try integer(node, in: 1...65_536)
      },
    ] + ThrottledKind.allCases.map(throttling)

  private static func integer(
    _ node: Node, in range: ClosedRange<Int>, or word: String? = nil
  ) throws(ConfigurationProblem) -> Int {
    guard let value = node.int, range.contains(value) else {
      let also = word.map { " or \($0)" } ?? ""
      throw ConfigurationProblem(
        message: "expected a whole number from \(range.lowerBound) to \(range.upperBound)\(also)")
    }
    return value
  }

  private static func roomNames(_ node: Node) throws(ConfigurationProblem) -> [String] {
    guard let sequence = node.sequence else {
      throw ConfigurationProblem(message: "expected a list of names of rooms")
    }
    var names: [String] = []
    for element in sequence {
      guard let name = element.string, isRoomName(name) else {
        throw ConfigurationProblem(
          message: "'\(element.string ?? "?")' is no name of a room: [a-z0-9_][a-z0-9_.-]{0,63}")
      }
      names.append(name)
    }
    return names
  }
}
