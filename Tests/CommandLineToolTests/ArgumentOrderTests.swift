import CommandLineTool
import JSON
import Testing

@Suite struct ArgumentOrderTests {
  private func arranged(_ line: String) throws -> [String] {
    try ArgumentOrder.arranged(
      line.split(separator: " ").map(String.init),
      verbs: ["status", "rooms", "show", "ingest", "demo", "help"])
  }

  @Test(arguments: [
    ("show main", "show main"),
    ("--json=short show main", "show --json=short main"),
    ("--socket /x show main", "show --socket /x main"),
    ("--socket=/x -j show main chat", "show --socket=/x -j main chat"),
    ("--speed max ingest file --room r", "ingest --speed max file --room r"),
    ("--room show ingest -", "ingest --room show -"),
    ("show -- --json", "show -- --json"),
    ("", "status"),
    ("--json=pretty", "status --json=pretty"),
    ("--help", "--help"),
    ("--help show", "show --help"),
    ("--version", "--version"),
  ])
  func `The verb comes first, wherever it stood`(line: String, expected: String) throws {
    #expect(try arranged(line).joined(separator: " ") == expected)
  }

  @Test(arguments: ["show --json short", "--json", "show --json"])
  func `The JSON mode is taken after an equals sign only`(line: String) {
    #expect(throws: Failure(.usage, "--json takes its value after '=', as in --json=short")) {
      try arranged(line)
    }
  }

  @Test(arguments: [
    ("--json=short --json=pretty", "--json"), ("ingest --room a f --room=b", "--room"),
    ("--socket a status --socket b", "--socket"),
  ])
  func `An option that is given twice is refused`(line: String, name: String) {
    #expect(throws: Failure(.usage, "\(name) is given twice")) { try arranged(line) }
  }

  @Test func `An unknown verb is refused with a suggestion`() {
    let failure = #expect(throws: Failure.self) { try arranged("shwo main") }
    #expect(failure?.status == .usage)
    #expect(failure?.message.contains("did you mean 'show'?") == true)
    let far = #expect(throws: Failure.self) { try arranged("frobnicate") }
    #expect(far?.message.contains("did you mean") == false)
  }

  @Test func `The options with values are those that the parser knows`() async throws {
    let help = await run(["--experimental-dump-help"])
    let root = try #require(try JSONValue(parsing: help.output)["command"])
    var names: Set<String> = []
    func visit(_ command: JSONValue) {
      for argument in command["arguments"]?.arrayValue ?? [] where argument["kind"] == "option" {
        for name in argument["names"]?.arrayValue ?? [] {
          let dashes = name["kind"] == "short" ? "-" : "--"
          names.insert(dashes + (name["name"]?.stringValue ?? ""))
        }
      }
      for command in command["subcommands"]?.arrayValue ?? [] { visit(command) }
    }
    visit(root)
    #expect(names == ArgumentOrder.valueOptions.union([ArgumentOrder.equalsOnly]))
  }
}
