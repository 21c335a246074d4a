import Foundation
import LivehostDaemon
import Testing

@Suite("Configuration")
struct ConfigurationTests {
  private func read(_ text: String) throws(ConfigurationError) -> Configuration {
    var configuration = Configuration()
    try configuration.read(text: text, file: "test.yaml")
    return configuration
  }

  @Test("an empty file changes nothing", arguments: ["", "\n", "# only a comment\n", "---\n"])
  func empty(text: String) throws {
    #expect(try read(text) == Configuration())
  }

  /// A value other than the default for each key.
  private static let others = [
    "log.level": "debug", "lanes": "3", "rooms.maximum": "5", "rooms.open": "[a, b]",
    "rooms.chatHistory": "9", "rooms.reportedMessages": "7", "rooms.framesPerSecond": "30",
    "ingest.connections": "8", "control.connections": "6", "control.monitors": "4",
  ]

  @Test("every declared key is read and changes something; its default changes nothing")
  func declared() throws {
    #expect(Set(Self.others.keys) == Set(ConfigurationKey.all.map(\.path)))
    for key in ConfigurationKey.all {
      func text(_ value: String) -> String {
        let parts = key.path.split(separator: ".")
        return parts.count == 1 ? "\(key.path): \(value)" : "\(parts[0]):\n  \(parts[1]): \(value)"
      }
      #expect(try read(text(Self.others[key.path] ?? "")) != Configuration(), "\(key.path)")
      #expect(try read(text(key.standard)) == Configuration(), "\(key.path)")
    }
  }

  @Test("the commented default file is the one that is installed, and changes nothing")
  func defaultFile() throws {
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

  struct Bad: Sendable, CustomTestStringConvertible {
    let text: String
    let line: Int
    let key: String?
    let message: String
    var testDescription: String { text }
  }

  @Test(
    "a bad file is refused with file, line, key and remedy",
    arguments: [
      Bad(
        text: "rooms:\n  maximun: 5", line: 2, key: "rooms.maximun",
        message: "did you mean rooms.maximum?"),
      Bad(text: "rooms:\n  maximum: 0", line: 2, key: "rooms.maximum", message: "from 1 to 100000"),
      Bad(text: "rooms:\n  maximum: many", line: 2, key: "rooms.maximum", message: "whole number"),
      Bad(text: "rooms:\n  maximum: [1]", line: 2, key: "rooms.maximum", message: "whole number"),
      Bad(text: "rooms: 5", line: 1, key: "rooms", message: "expected keys and values"),
      Bad(text: "\n\nroms:\n  maximum: 5", line: 3, key: "roms", message: "unknown key"),
      Bad(text: "log:\n  level: loud", line: 2, key: "log.level", message: "expected one of trace"),
      Bad(text: "log:\n  level: info\n  level: debug", line: 2, key: "level", message: "twice"),
      Bad(text: "lanes: 0", line: 1, key: "lanes", message: "from 1 to 256 or auto"),
      Bad(text: "lanes: some", line: 1, key: "lanes", message: "or auto"),
      Bad(text: "rooms:\n  open: main", line: 2, key: "rooms.open", message: "a list"),
      Bad(text: "rooms:\n  open: [Main]", line: 2, key: "rooms.open", message: "'Main' is no name"),
      Bad(
        text: "rooms:\n  framesPerSecond: 1001", line: 2, key: "rooms.framesPerSecond",
        message: "1 to 1000"),
      Bad(
        text: "ingest:\n  connections: -1", line: 2, key: "ingest.connections", message: "from 1"),
      Bad(
        text: "control:\n  monitors: 1.5", line: 2, key: "control.monitors", message: "whole number"
      ),
      Bad(text: "- rooms", line: 1, key: nil, message: "expected keys and values"),
      Bad(text: "rooms: {maximum: 5", line: 1, key: nil, message: ""),
      Bad(text: "rooms:\n\tmaximum: 5", line: 2, key: nil, message: ""),
    ])
  func bad(_ bad: Bad) {
    let error = #expect(throws: ConfigurationError.self) { try read(bad.text) }
    #expect(error?.file == "test.yaml")
    #expect(error?.line == bad.line || bad.key == nil && error?.line != nil, "\(error?.line ?? -1)")
    #expect(error?.key == bad.key)
    if !bad.message.isEmpty {
      #expect(error?.message.contains(bad.message) == true, "\(error?.message ?? "")")
    }
  }

  @Test("a file that cannot be read is named")
  func missing() {
    var configuration = Configuration()
    let error = #expect(throws: ConfigurationError.self) {
      try configuration.read(file: "/nonexistent/livehostd.yaml")
    }
    #expect(error?.file == "/nonexistent/livehostd.yaml")
    #expect(error?.message.contains("cannot be read") == true)
  }
}
