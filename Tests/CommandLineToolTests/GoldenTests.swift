import CommandLineTool
import ControlInterface
import ControlTestSupport
import Foundation
import JSON
import Testing

/// The JSON output of every verb is stored, because users' scripts depend on it.
///
/// The list of verbs is read from the program. A new verb needs a row in `arguments`. A run with
/// `LIVEHOST_WRITE_GOLDEN=1` writes its golden file, which must be reviewed and committed. A run
/// with this variable also rewrites files whose output changed: members may be added, but not
/// removed or renamed.
@Suite(.serialized) struct GoldenTests {
  /// The arguments for each verb. For a verb that starts other programs or never ends, this is the
  /// name of the test that covers its output.
  static let arguments: [String: [String]] = [
    "status": [], "rooms": [], "open": ["other"], "close": ["main"], "show": ["main"],
    "why": ["main", "HostView"], "hangs": [], "send": ["main", #"{"type":"viewers","count":1}"#],
    "set": ["main", "zoom", "0.5"], "record start": ["main"], "record stop": ["main"],
    "record pause": ["main"], "record resume": ["main"],
    "record list": [], "record export": ["main-1"], "record verify": ["main-1"],
    "record delete": ["main-1"],
    "replay": ["main-1"],
    "analyze": ["chatters", "main-1"], "tasks": [], "sources": [], "cancel": ["t-1"],
    "log-level": [],
    "reload": [], "top": ["--interval", "1"], "metrics": [], "journal": ["--kinds"],
    "admit": ["main"], "capacity": ["main", "20"], "pace": ["main", "2.5"],
    "schedule": ["main", "none"], "chat filter": ["main"], "chat highlight": ["main", "ann"],
    "chat scroll": ["main", "back"], "chat thread": ["main", "1"], "chat notices": ["main"],
    "chat pin": ["main", "3"], "chat unpin": ["main", "3"], "chat dismiss": ["main", "3"],
    "chat say": ["main", "hello", "--platform", "owncast"], "chat reply": ["main", "1", "hello"],
    "chat announce": ["main", "hello"], "chat delete": ["main", "1"],
    "chat timeout": ["main", "@Ü", "10m", "--reason", "links"],
    "chat ban": ["main", "@Ü", "--platform", "kick"], "chat unban": ["main", "u"],
    "chat shoutout": ["main", "u", "--platform", "kick"],
    "chat modes": ["main", "--slow", "30s", "--followers-only", "off", "--emote-only", "on"],
    "chat shield": ["main", "on"], "chat held": ["main", "1", "deny"],
    "title": ["main", "A new title"], "category": ["main", "Music"],
    "mark": ["main", "--platform", "social-stream"],
  ]
  static let elsewhere: [String: String] = [
    "watch": "the objects of show; VerbTests watches them change",
    "ingest": "IngestTests has its members",
    "simulate": "SimulateTests has its members, and the simulation its own golden report",
    "compare": "SimulateTests has its members",
    "sweep": "SimulateTests has its members",
    "calibrate": "CalibrateTests has its members",
    "demo": "DemoSummaryTests has its members",
    "connect twitch": "livehost-source prints it; SourceReporterTests has its members",
    "connect eventsub": "livehost-source prints it; SourceReporterTests has its members",
    "login twitch": "livehost-source prints it; a line of text",
    "connect obs": "livehost-source prints it; SourceReporterTests has its members",
    "connect nginx-rtmp": "livehost-source prints it; SourceReporterTests has its members",
    "connect mediamtx": "livehost-source prints it; SourceReporterTests has its members",
    "connect owncast": "livehost-source prints it; SourceReporterTests has its members",
    "activity list": "the rows of show; HostVerbTests has its lines",
    "activity pin": "HostVerbTests has it",
    "activity unpin": "HostVerbTests has it",
    "activity dismiss": "HostVerbTests has it",
    "connect webhook": "livehost-source prints it; SourceReporterTests has its members",
    "connect social-stream": "livehost-source prints it; SourceReporterTests has its members",
    "web run": "livehost-web prints it; Tests/Support/harness/web.py has its members",
    "web people": "livehost-web prints it; Tests/Interop/web/test_people.py has its members",
    "web link": "livehost-web prints it; Tests/Interop/web/test_people.py has its members",
    "relay": "it prints nothing; Tests/Interop/cluster/test_errors.py runs it",
    "cluster status": "Tests/Interop/cluster/test_faults.py has its members",
    "cluster rooms": "Tests/Interop/cluster/test_faults.py has its members",
    "cluster drain": "Tests/Interop/cluster/test_faults.py has its members",
    "cluster resume": "Tests/Interop/cluster/test_faults.py has its members",
    "cluster move": "Tests/Interop/cluster/test_faults.py has its members",
    "completion": "CompletionTests has its members; the script is that of the parser",
  ]
  static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Golden")

  /// The names of all verbs, including inner ones.
  static func verbs() async throws -> [String] {
    let help = await run(["--experimental-dump-help"])
    let root = try #require(try JSONValue(parsing: help.output)["command"])
    func names(_ command: JSONValue, _ path: String) -> [String] {
      let inner = (command["subcommands"]?.arrayValue ?? []).filter {
        $0["commandName"] != "help"
      }
      guard !inner.isEmpty else { return [path] }
      return inner.flatMap { command in
        names(command, "\(path) \(command["commandName"]?.stringValue ?? "")")
      }
    }
    return names(root, "").map { String($0.dropFirst()) }
  }

  @Test func `every verb has a golden file, and every golden file has a verb`() async throws {
    let verbs = try await Self.verbs()
    let known = Set(Self.arguments.keys).union(Self.elsewhere.keys)
    for verb in verbs where !known.contains(verb) {
      Issue.record(
        """
        the verb '\(verb)' has no stored form: add a row to GoldenTests.arguments in \(#filePath), \
        run 'LIVEHOST_WRITE_GOLDEN=1 swift test -c release --skip-build --filter GoldenTests', look \
        at the new file in \(Self.directory.path) and commit it
        """)
    }
    #expect(known.subtracting(verbs) == [], "golden files of verbs that no longer exist")
  }

  @Test(arguments: arguments.keys.sorted())
  func `the JSON output of a verb equals its golden file`(verb: String) async throws {
    let daemon = try await FakeDaemon(report: .full)
    if ["record stop", "record pause", "record resume"].contains(verb) {
      _ = try await daemon.service.startRecording("main", retries: false)
    }
    daemon.service.hangs.add(
      HangReport(
        number: 0, timestamp: 5_000, kind: .hang, reason: .busy, durationMicroseconds: 812_345,
        lane: 0, room: "main", action: "chat.messages"))
    let words = verb.split(separator: " ").map(String.init)
    let run = await daemon.run(
      words + ["--json=pretty"] + (Self.arguments[verb] ?? []), clock: .stepping)
    #expect(run.status == .done)
    await daemon.stop()
    let file = Self.directory.appendingPathComponent(
      "\(verb.replacingOccurrences(of: " ", with: "-")).json")
    let printed = run.output
    if ProcessInfo.processInfo.environment["LIVEHOST_WRITE_GOLDEN"] == "1" {
      try printed.write(to: file, atomically: true, encoding: .utf8)
    }
    let stored = (try? String(contentsOf: file, encoding: .utf8)) ?? "(no file)"
    #expect(
      printed == stored,
      """
      the JSON of '\(verb)' is not as stored in \(file.path). If that is meant, and only adds members, \
      run 'LIVEHOST_WRITE_GOLDEN=1 swift test -c release --skip-build --filter GoldenTests' and commit \
      the file. Standard error said: \(run.diagnostics)
      """)
  }
}

@Suite struct NoDaemonTests {
  /// Verbs that read the journal do not call the daemon.
  private static let verbs = GoldenTests.arguments.keys.sorted().filter { $0 != "journal" }

  @Test(arguments: verbs)
  func `without a daemon, every verb explains how to start it, also in JSON`(verb: String)
    async throws
  {
    let words = verb.split(separator: " ").map(String.init)
    let run = await run(
      words + ["--json=short"] + (GoldenTests.arguments[verb] ?? []),
      variables: ["LIVEHOST_SOCKET": "/nonexistent/io.livehost.Control"])
    #expect(run.status == .notReachable)
    #expect(run.diagnostics.contains("start it with"))
    let error = try #require(try JSONValue(parsing: run.output)["error"])
    #expect(error["exitCode"] == 69)
    #expect(error["message"]?.stringValue?.contains("start it with") == true)
  }
}

@Suite struct HelpTests {
  /// A command with its description.
  private struct Command {
    var path: String
    var value: JSONValue
  }

  private func commands() async throws -> [Command] {
    let help = await run(["--experimental-dump-help"])
    let root = try #require(try JSONValue(parsing: help.output)["command"])
    func all(_ command: JSONValue, _ path: String) -> [Command] {
      [Command(path: path, value: command)]
        + (command["subcommands"]?.arrayValue ?? [])
        .filter { $0["commandName"] != "help" }
        .flatMap { all($0, "\(path) \($0["commandName"]?.stringValue ?? "")") }
    }
    return all(root, "livehostctl")
  }

  @Test func `the help of every verb explains the verb, its options and its arguments`()
    async throws
  {
    let commands = try await commands()
    #expect(commands.count > 20)
    for command in commands {
      func text(_ member: String) -> String { command.value[member]?.stringValue ?? "" }
      #expect(text("abstract").count > 8, "\(command.path): no abstract")
      #expect(text("abstract").hasSuffix("."), "\(command.path): \(text("abstract"))")
      let inner = (command.value["subcommands"]?.arrayValue ?? []).filter {
        $0["commandName"] != "help"
      }
      if inner.isEmpty {
        #expect(
          text("discussion").contains("JSON") || text("discussion").contains("Native events"),
          "\(command.path): --help does not describe the JSON output")
      }
      for argument in command.value["arguments"]?.arrayValue ?? []
      where argument["shouldDisplay"] != false {
        let name =
          argument["valueName"]?.stringValue ?? argument["names"]?.arrayValue?.description ?? ""
        let help = argument["abstract"]?.stringValue ?? ""
        #expect(help.count > 5, "\(command.path): '\(name)' has no help")
        #expect(help.hasSuffix("."), "\(command.path): '\(name)': \(help)")
      }
    }
  }
}
