import CommandLineTool
import ControlInterface
import JSON
import TestSupport
import Testing

@Suite struct UsageTests {
  @Test(arguments: [
    ["show"], ["show", "Main"], ["show", "main", "nothing"], ["status", "extra"],
    ["--json=loud"], ["-j", "--json=short"], ["ingest"], ["ingest", "f", "--speed", "0"],
    ["ingest", "f", "--speed", "-1"], ["ingest", "f", "--speed", "nan"],
    ["ingest", "f", "--format", "xml"], ["rooms", "--room", "x"],
    ["watch", "main", "chat", "chat"],
    ["demo", "--json=short"], ["demo", "--once", "--web"], ["demo", "--socket", "/x", "--once"],
    ["--frobnicate"],
    ["--socket="], ["open", ""], ["journal", "--since", "soon"], ["journal", "--kind", "hank"],
    ["journal", "--lines", "0"], ["journal", "--follow", "--until", "now"],
    ["journal", "--since", "10m", "--until", "1h"], ["journal", "--room", "Main"],
    ["journal", "--since=1h", "--since=2h"], ["compare", "a", "b", "--socket", "/x"],
    ["simulate", "x.yaml", "--local", "--socket=/x"], ["watch", "main", "--rate", "0"],
    ["top", "--once", "extra"], ["status", "--rate", "1"], ["help", "nope"],
    ["help", "record", "nope"], ["record", "nope", "main"], ["completion", "tcsh"],
  ])
  func `invalid arguments are usage errors`(arguments: [String]) async {
    let run = await run(arguments)
    #expect(run.status == .usage)
    #expect(run.diagnostics.hasPrefix("livehostctl: "))
    #expect(!run.output.contains("OVERVIEW"))
  }

  @Test func `an error is printed as JSON if JSON was requested`() async throws {
    let run = await run(["show", "--json=short"])
    let value = try JSONValue(parsing: run.output)
    #expect(value["error"]?["kind"] == "usage")
    #expect(value["error"]?["exitCode"] == 64)
    #expect(run.output.split(separator: "\n").count == 1)
  }

  @Test(arguments: [
    "status", "rooms", "open", "close", "show", "watch", "send", "ingest", "demo", "simulate",
    "sweep", "compare", "calibrate", "journal", "metrics", "hangs",
  ])
  func `every verb has a help text`(verb: String) async {
    let run = await run([verb, "--help"])
    #expect(run.status == .done)
    for part in ["--socket", "--json", "-j", "--no-pager", "JSON"] {
      #expect(run.output.contains(part), "\(part)")
    }
    #expect(run.diagnostics.isEmpty)
  }

  @Test(arguments: [
    (["capacity", "main", "-3"], "'-3' is invalid"),
    (["schedule", "main", "-1h"], "'-1h' is invalid"),
    (["ingest", "f", "--speed", "-1"], "'-1' is invalid"),
    (["top", "--interval", "-1", "--once"], "from 0.1 to"),
    (["why", "main", "ChatView", "--count", "-1"], "must not be negative"),
  ])
  func `a negative value is reported as invalid, not as missing`(
    arguments: [String], message: String
  ) async {
    let run = await run(arguments)
    #expect(run.status == .usage)
    #expect(run.diagnostics.contains(message), "\(run.diagnostics)")
  }

  @Test func `help fits 80 columns, and no line is wrapped twice`() async throws {
    let dump = await run(["--experimental-dump-help"])
    let root = try #require(try JSONValue(parsing: dump.output)["command"])
    func visit(_ command: JSONValue, _ path: [String]) async {
      let help = await run(["help"] + path)
      #expect(help.status == .done, "\(path)")
      for line in help.output.split(separator: "\n") where !line.hasPrefix("USAGE:") {
        #expect(line.count <= 80, "\(path): \(line)")
      }
      // A line broken both by hand and by the parser would leave a short remainder.
      for line in (command["discussion"]?.stringValue ?? "").split(separator: "\n")
      where line.hasPrefix("  ") {
        #expect(line.count <= 80, "\(path): \(line)")
      }
      for inner in command["subcommands"]?.arrayValue ?? [] {
        guard let name = inner["commandName"]?.stringValue, name != "help" else { continue }
        await visit(inner, path + [name])
      }
    }
    await visit(root, [])
  }

  @Test func `--version prints the version of the program`() async {
    let run = await run(["--version"])
    #expect(run.status == .done)
    #expect(run.output == "livehostctl \(livehostVersion)\n")
  }

  @Test(arguments: [
    "{\"type\"", "[]", "{}", "{\"type\":1}", "{\"type\":\"viewers\",\"room\":\"other\"}", "",
  ])
  func `a malformed event causes the exit code for bad data, with or without a daemon`(
    event: String
  ) async {
    #expect(await run(["send", "main", event]).status == .badData)
  }

  @Test(arguments: [["status"], ["show", "main"], ["open", "x"], ["watch", "x"], []])
  func `if no daemon is found, the error names the sockets tried`(
    arguments: [String]
  ) async throws {
    let directory = TemporaryDirectory()
    let run = await run(
      arguments + ["--json=pretty"], variables: ["LIVEHOST_SOCKET": "\(directory.path)/control"])
    #expect(run.status == .notReachable)
    #expect(run.diagnostics.contains("start it with"))
    #expect(run.diagnostics.contains("\(directory.path)/control"))
    #expect(try JSONValue(parsing: run.output)["error"]?["exitCode"] == 69)
  }
}

@Suite struct SocketPathsTests {
  @Test func `an option takes precedence over its environment variable`() {
    let candidates = SocketPaths.candidates(
      option: "/a/control",
      ProcessEnvironment(variables: ["LIVEHOST_SOCKET": "/b", "XDG_RUNTIME_DIR": "/c"], userID: 7))
    #expect(candidates.map(\.control) == ["/a/control"])
    #expect(candidates.map(\.ingest) == ["/a/ingest"])
  }

  @Test func `the sockets of the user's own daemon take precedence over the system's`() {
    let own = SocketPaths.candidates(
      option: nil, ProcessEnvironment(variables: ["XDG_RUNTIME_DIR": "/c"], userID: 7))
    #expect(own == [SocketPaths(directory: "/c/livehost"), .service])
    let other = SocketPaths.candidates(
      option: nil, ProcessEnvironment(variables: ["XDG_RUNTIME_DIR": ""], userID: 123_456))
    #expect(other == [SocketPaths(directory: "/tmp/livehost-123456"), .service])
  }

  @Test func `the path of a directory selects the two sockets in it`() throws {
    let directory = TemporaryDirectory()
    let candidates = SocketPaths.candidates(
      option: directory.path, ProcessEnvironment(variables: [:], userID: 7))
    #expect(candidates == [SocketPaths(directory: directory.path)])
  }
}
