import Foundation
import LivehostDaemon
import Testing
import YAMLReader

@Suite struct BadConfigurationTests {
  struct Bad: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String
    var line: Int?
    var key: String?
    /// The part of the error message that names the remedy.
    let remedy: String
    var testDescription: String { name }
  }

  /// Cases generated from all keys, each with a value of the wrong type, misspelt, and given twice.
  static let ofKeys = Configuration.keys.flatMap { key -> [Bad] in
    let parts = key.path.split(separator: ".").map(String.init)
    func text(_ lines: String...) -> String {
      parts.count == 1
        ? lines.joined(separator: "\n")
        : "\(parts[0]):\n" + lines.map { "  " + $0 }.joined(separator: "\n")
    }
    let name = parts.last ?? ""
    let line = parts.count
    return [
      Bad(
        name: "\(key.path) of a wrong type", text: text("\(name): \"no such value\""), line: line,
        key: key.path,
        remedy: key.path == "rooms.views" ? "use one of always, watched" : "expected "),
      Bad(
        name: "\(key.path) as a list of lists", text: text("\(name): [[]]"), line: line,
        key: key.path, remedy: key.path == "rooms.open" ? "[a-z0-9_]" : "expected "),
      Bad(
        name: "\(key.path) misspelt", text: text("\(name)x: \(key.defaultValue)"), line: line,
        key: key.path + "x", remedy: "did you mean '\(key.path)'?"),
      Bad(
        name: "\(key.path) twice",
        text: text("\(name): \(key.defaultValue)", "\(name): \(key.defaultValue)"),
        line: line + 1, key: key.path, remedy: "remove one"),
    ]
  }

  static let others = [
    Bad(name: "a list", text: "- rooms", line: 1, remedy: "expected keys and values, such as"),
    Bad(name: "a word", text: "rooms", line: 1, remedy: "expected keys and values, such as"),
    Bad(
      name: "a number in place of a group", text: "# rooms\nrooms: 5", line: 2, key: "rooms",
      remedy: "such as maximum: 64"),
    Bad(
      name: "an empty group", text: "rooms:", line: 1, key: "rooms",
      remedy: "such as maximum: 64"),
    Bad(
      name: "a key that resembles no valid key", text: "\n\nfrobnicate: 1", line: 3,
      key: "frobnicate",
      remedy: "--print-default-config shows all keys"),
    Bad(
      name: "an unclosed bracket", text: "rooms: {maximum: 5", line: 1, remedy: "check the quotes"),
    Bad(name: "a tab", text: "rooms:\n\tmaximum: 5", line: 2, remedy: "check the quotes"),
    Bad(
      name: "an unclosed quote", text: "log:\n  level: \"info", line: 2, remedy: "check the quotes"),
    Bad(
      name: "wrong indentation", text: "rooms:\n    maximum: 5\n  open: []", line: 3,
      remedy: "check the quotes"),
    Bad(
      name: "a number that exceeds 64 bits", text: "rooms: {maximum: 99999999999999999999}",
      line: 1,
      key: "rooms.maximum", remedy: "from 1 to 100000"),
    Bad(
      name: "a control character", text: "lanes: 1\nlog: {level: \"in\u{1}fo\"}", line: 2,
      remedy: "in UTF-8"),
  ]

  private func check(_ file: String) throws -> Outcome {
    try run("livehostd", ["--check-config", "--config", file])
  }

  @Test(arguments: ofKeys + others)
  func `a bad configuration is refused with exit code 78, file, line, key and remedy`(bad: Bad)
    throws
  {
    let directory = try temporaryDirectory()
    defer { try? FileManager.default.removeItem(at: directory) }
    let file = directory.appendingPathComponent("livehostd.yaml")
    try bad.text.write(to: file, atomically: true, encoding: .utf8)
    let outcome = try check(file.path)
    #expect(outcome.status == 78)
    let place = bad.line.map { ":\($0)" } ?? ""
    let key = bad.key.map { " \($0):" } ?? ""
    #expect(
      outcome.diagnostics.hasPrefix("livehostd: \(file.path)\(place):\(key) "),
      "\(outcome.diagnostics)")
    #expect(outcome.diagnostics.contains(bad.remedy), "\(outcome.diagnostics)")
    #expect(outcome.diagnostics.split(separator: "\n").count == 1, "\(outcome.diagnostics)")
    #expect(outcome.output.isEmpty)
  }

  @Test
  func `the cases of these tests cover more than thirty configuration errors`() {
    #expect(Self.ofKeys.count + Self.others.count > 30)
  }

  @Test
  func `the error for an unreadable configuration names the file and the remedy`() throws {
    let directory = try temporaryDirectory()
    defer { try? FileManager.default.removeItem(at: directory) }
    let binary = directory.appendingPathComponent("binary.yaml")
    try Data([0x6C, 0x6F, 0xFF, 0xFE]).write(to: binary)
    for (path, remedy) in [
      (directory.path, "name a file"), (directory.path + "/none.yaml", "name one that exists"),
      (binary.path, "save it in UTF-8"),
    ] {
      let outcome = try check(path)
      #expect(outcome.status == 78)
      #expect(outcome.diagnostics.hasPrefix("livehostd: \(path): "), "\(outcome.diagnostics)")
      #expect(outcome.diagnostics.contains(remedy), "\(outcome.diagnostics)")
    }
  }

  @Test
  func `the daemon does not start with a bad configuration`() throws {
    let directory = try temporaryDirectory()
    defer { try? FileManager.default.removeItem(at: directory) }
    let file = directory.appendingPathComponent("livehostd.yaml")
    try "lanes: none\n".write(to: file, atomically: true, encoding: .utf8)
    let outcome = try run(
      "livehostd",
      ["--config", file.path, "--runtime-dir", directory.path, "--state-dir", directory.path])
    #expect(outcome.status == 78)
    #expect(outcome.diagnostics.contains("\(file.path):1: lanes: expected "))
  }
}
