import Foundation
import LivehostDaemon
import Testing
import YAMLReader

@Suite struct ConfigurationTests {
  private func read(_ text: String) throws(ConfigurationError) -> Configuration {
    var configuration = Configuration()
    try configuration.read(text: text, file: "test.yaml")
    return configuration
  }

  @Test(arguments: ["", "\n", "# only a comment\n", "---\n"])
  func `an empty configuration file changes no setting`(text: String) throws {
    #expect(try read(text) == Configuration())
  }

  @Test(arguments: [(1, 1), (2, 2), (3, 2), (8, 7)])
  func `one core is reserved for shared work if there are more than two cores`(
    cores: Int, lanes: Int
  ) {
    #expect(Configuration.defaultLanes(cores: cores) == lanes)
  }

  /// A value other than the default for each key.
  private static let others = [
    "log.level": "debug", "lanes": "3", "rooms.maximum": "5", "rooms.open": "[a, b]",
    "rooms.chatHistory": "9", "rooms.chatWaves": "true", "rooms.reportedMessages": "7",
    "rooms.framesPerSecond": "30", "rooms.requestTimeout": "250ms",
    "rooms.views": "watched", "rooms.packAfter": "off",
    "ingest.connections": "8", "control.connections": "6", "control.monitors": "4",
    "recordings.scrubDays": "30", "recordings.maximumAge": "30d",
    "recordings.maximumBytes": "1.5GiB",
    "throttle.chat": "{interval: 50ms, maximum-staleness: 1s, capacity: 100}",
    "throttle.waitingRoom": "{interval: 20ms}", "throttle.controls": "{interval: 1500us}",
    "throttle.meters": "{maximum-staleness: 2s}", "throttle.reactions": "{interval: 1s}",
    "throttle.viewers": "{class: latest-wins, interval: frame}",
    "throttle.votes": "{interval: 1s}",
    "throttle.statistics": "{interval: 5s, maximum-staleness: 10s}",
    "throttle.progress": "{interval: 2s}", "throttle.sources": "{interval: 2s}",
    "throttle.goals": "{interval: 2s}",
  ]

  @Test
  func `every declared key is read and changes a setting, unless its value is the default`()
    throws
  {
    #expect(Set(Self.others.keys) == Set(Configuration.keys.map(\.path)))
    for key in Configuration.keys {
      func text(_ value: String) -> String {
        let parts = key.path.split(separator: ".")
        return parts.count == 1 ? "\(key.path): \(value)" : "\(parts[0]):\n  \(parts[1]): \(value)"
      }
      #expect(try read(text(Self.others[key.path] ?? "")) != Configuration(), "\(key.path)")
      #expect(try read(text(key.defaultValue)) == Configuration(), "\(key.path)")
    }
  }

  @Test
  func `the default file with all keys as comments equals the installed file`() throws {
    let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../config/livehostd.yaml")
    let text = try String(contentsOf: url, encoding: .utf8)
    #expect(text == Configuration.commentedDefaults)
    #expect(try read(text) == Configuration())
    let uncommented = text.split(separator: "\n").map { line in
      line.hasPrefix("#  #") || line.hasPrefix("# Configuration") ? "" : String(line.dropFirst())
    }.joined(separator: "\n")
    #expect(try read(uncommented) == Configuration(), "\(uncommented)")
  }

  @Test
  func `the service unit allows the memory that rooms and senders may use`() throws {
    let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../packaging/systemd/livehostd.service")
    let unit = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
    let limit = try #require(unit.first { $0.hasPrefix("MemoryHigh=") && $0.hasSuffix("M") })
    let mebibytes = try #require(Int(limit.dropFirst("MemoryHigh=".count).dropLast()))
    // The limit must also cover the program itself and the calls of control clients.
    #expect(Configuration().memory >> 20 + 64 <= mebibytes)
  }

  struct Bad: Sendable, CustomTestStringConvertible {
    let text: String
    let line: Int
    let key: String?
    let message: String
    var testDescription: String { text }
  }

  @Test(arguments: [
    Bad(
      text: "rooms:\n  maximun: 5", line: 2, key: "rooms.maximun",
      message: "did you mean 'rooms.maximum'?"),
    Bad(text: "rooms:\n  maximum: 0", line: 2, key: "rooms.maximum", message: "from 1 to 100000"),
    Bad(text: "rooms:\n  maximum: many", line: 2, key: "rooms.maximum", message: "whole number"),
    Bad(text: "rooms:\n  maximum: [1]", line: 2, key: "rooms.maximum", message: "whole number"),
    Bad(
      text: "rooms:\n  packAfter: 0s", line: 2, key: "rooms.packAfter",
      message: "must be longer than zero"),
    Bad(
      text: "rooms:\n  views: watch", line: 2, key: "rooms.views",
      message: "there is no 'watch'; did you mean 'watched'?"),
    Bad(text: "rooms: 5", line: 1, key: "rooms", message: "expected keys and values"),
    Bad(text: "\n\nroms:\n  maximum: 5", line: 3, key: "roms", message: "unknown key"),
    Bad(text: "log:\n  level: loud", line: 2, key: "log.level", message: "expected one of trace"),
    Bad(
      text: "log:\n  level: info\n  level: debug", line: 3, key: "log.level",
      message: "is a duplicate key; remove one"),
    Bad(
      text: "throttle:\n  # wide\n  chat:\n    interval: 1s\n\n    interval: 2s\nlanes: 1",
      line: 6,
      key: "throttle.chat.interval", message: "is a duplicate key"),
    Bad(
      text: "rooms: {maximum: 1, maximum: 2}", line: 1, key: "rooms.maximum",
      message: "is a duplicate key"),
    Bad(text: "lanes: 0", line: 1, key: "lanes", message: "from 1 to 256 or auto"),
    Bad(text: "lanes: some", line: 1, key: "lanes", message: "or auto"),
    Bad(text: "rooms:\n  open: main", line: 2, key: "rooms.open", message: "a list"),
    Bad(
      text: "rooms:\n  open: [Main]", line: 2, key: "rooms.open",
      message: "'Main' is not a room name"),
    Bad(
      text: "rooms:\n  framesPerSecond: 1001", line: 2, key: "rooms.framesPerSecond",
      message: "1 to 1000"),
    Bad(
      text: "ingest:\n  connections: -1", line: 2, key: "ingest.connections", message: "from 1"),
    Bad(
      text: "control:\n  monitors: 1.5", line: 2, key: "control.monitors", message: "whole number"
    ),
    Bad(
      text: "throttle:\n  chat:\n    interval: 50ms\n    class: latest-wins", line: 4,
      key: "throttle.chat.class", message: "contradicts the class of chat, which is keep-all"),
    Bad(
      text: "throttle:\n  chat:\n    interval: 50ms\n    maximum-staleness: 20ms", line: 4,
      key: "throttle.chat.maximum-staleness", message: "below the interval of 50 ms; raise"),
    Bad(
      text: "throttle:\n  viewers:\n    trailing: false", line: 3,
      key: "throttle.viewers.trailing", message: "the last value would never arrive"),
    Bad(
      text: "throttle:\n  viewers: {leading: false}", line: 2,
      key: "throttle.viewers.leading", message: "always passes immediately"),
    Bad(
      text: "throttle:\n  progress:\n\n    interval: 100ms", line: 4,
      key: "throttle.progress.interval", message: "shorter than a second"),
    Bad(
      text: "throttle:\n  statistics: {leading: true}", line: 2,
      key: "throttle.statistics.leading", message: "does not apply to the class summary"),
    Bad(
      text: "throttle:\n  reactions: {capacity: 5}", line: 2,
      key: "throttle.reactions.capacity", message: "is fixed"),
    Bad(
      text: "throttle:\n  chat: {capacity: 0}", line: 2, key: "throttle.chat.capacity",
      message: "above zero; set capacity to 1 or more"),
    Bad(
      text: "throttle:\n  chat: {interval: 0s}", line: 2, key: "throttle.chat.interval",
      message: "the value must be above zero; set a time above zero"),
    Bad(
      text: "throttle:\n  chat: {interval: 50}", line: 2, key: "throttle.chat.interval",
      message: "or frame, not '50'; did you mean '50ms'?"),
    Bad(
      text: "throttle:\n  chat: {intervall: 50ms}", line: 2, key: "throttle.chat.intervall",
      message: "did you mean 'interval'?"),
    Bad(
      text: "throttle:\n  chat: {class: some}", line: 2, key: "throttle.chat.class",
      message: "use one of never-drop"),
    Bad(
      text: "throttle:\n  chat: [50ms]", line: 2, key: "throttle.chat",
      message: "{interval: 50ms}"),
    Bad(
      text: "throttle:\n  chat: 50", line: 2, key: "throttle.chat",
      message: "did you mean '50ms'?"),
    Bad(
      text: "throttle:\n  chats: {interval: 1s}", line: 2, key: "throttle.chats",
      message: "did you mean 'throttle.chat'?"),
    Bad(text: "- rooms", line: 1, key: nil, message: "expected keys and values"),
    Bad(text: "rooms: {maximum: 5", line: 1, key: nil, message: ""),
    Bad(text: "rooms:\n\tmaximum: 5", line: 2, key: nil, message: ""),
  ])
  func `an invalid configuration is rejected with its file, line and key, and with a remedy`(
    _ bad: Bad
  ) {
    let error = #expect(throws: ConfigurationError.self) { try read(bad.text) }
    #expect(error?.file == "test.yaml")
    #expect(error?.line == bad.line || bad.key == nil && error?.line != nil, "\(error?.line ?? -1)")
    #expect(error?.key == bad.key)
    if !bad.message.isEmpty {
      #expect(error?.message.contains(bad.message) == true, "\(error?.message ?? "")")
    }
  }

  @Test
  func `the error for an unreadable configuration names the file`() {
    var configuration = Configuration()
    let error = #expect(throws: ConfigurationError.self) {
      try configuration.read(file: "/nonexistent/livehostd.yaml")
    }
    #expect(error?.file == "/nonexistent/livehostd.yaml")
    #expect(error?.message.contains("cannot be read") == true)
  }

  @Test(arguments: [("a, b", false), ("a, b, c", true), ("a, a, b, b", false)])
  func `opening more rooms than rooms.maximum is refused`(rooms: String, isRefused: Bool) throws {
    let configuration = try read("rooms: {maximum: 2, open: [\(rooms)]}")
    guard isRefused else { return try configuration.validate(file: "test.yaml") }
    let error = #expect(throws: ConfigurationError.self) {
      try configuration.validate(file: "test.yaml")
    }
    #expect(error?.key == "rooms.open")
    #expect(
      error?.message
        == "names 3 rooms, but rooms.maximum is 2; raise rooms.maximum or open fewer rooms")
  }

  @Test func `a device such as /dev/null can be read as a configuration file`() throws {
    var configuration = Configuration()
    try configuration.read(file: "/dev/null")
    #expect(configuration == Configuration())
  }
}
