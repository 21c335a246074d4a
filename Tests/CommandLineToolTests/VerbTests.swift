import CommandLineTool
import ControlInterface
import ControlTestSupport
import JSON
import TerminalScreen
import TerminalTestSupport
import TestSupport
import Testing

@Suite struct VerbTests {
  @Test func `show prints exactly the object of the control interface`() async throws {
    let daemon = try await FakeDaemon()
    let run = await daemon.run(["show", "main", "--json=short"])
    #expect(run.status == .done)
    #expect(run.output == "\(try JSONValue(encoding: FakeService.room))\n")
    await daemon.stop()
  }

  @Test func `show with the name of a feature prints only this feature`() async throws {
    let daemon = try await FakeDaemon()
    let run = await daemon.run(["--json=pretty", "show", "main", "recorder"])
    let value = try JSONValue(parsing: run.output)
    #expect(value["features"]?.objectValue?.keys.sorted() == ["recorder"])
    #expect(value["counters"]?["received"] == 9)
    await daemon.stop()
  }

  @Test func `untrusted text cannot control the terminal`() async throws {
    let daemon = try await FakeDaemon()
    let run = await daemon.run(["show", "main"])
    #expect(run.output.contains("名前: hi\u{FFFD}[2J"))
    #expect(!run.output.contains("\u{1B}"))
    await daemon.stop()
  }

  @Test func `sources prints the state and the gaps of each source of events`() async throws {
    let daemon = try await FakeDaemon()
    let list = await daemon.run(["sources", "main"])
    #expect(
      list.output == """
        ROOM  SOURCE       PLATFORM  STATE                           LOST  BACK-FILLED  DUPLICATE  POSITION  MISSING
        main  twitch-main  twitch    behind 2 s: the server is slow     3           40          5        17  12 s (connection lost), 2 gaps, 14 s in all
        main  obs          -         refused: wrong password\u{FFFD}[2J        0            0          0         -  -
        """ + "\n")
    #expect(await daemon.run(["sources", "none"]).status == .failed)
    await daemon.stop()
  }

  @Test func `the verbs status and rooms print text or JSON`() async throws {
    let daemon = try await FakeDaemon()
    let status = await daemon.run([])
    #expect(status.output.contains("livehostd 9.9, ok"))
    #expect(status.output.contains("1:02:03"))
    #expect(status.output.contains("12.3/s"))
    let json = await daemon.run(["--json=short"])
    #expect(try JSONValue(parsing: json.output)["uptimeSeconds"] == 3_723)
    let rooms = await daemon.run(["rooms"])
    #expect(rooms.output.split(separator: "\n").count == 2)
    #expect(rooms.output.contains("1,234"))
    let list = await daemon.run(["rooms", "--json=short"])
    #expect(try JSONValue(parsing: list.output).arrayValue?.count == 1)
    await daemon.stop()
  }

  @Test func `verify checks one recording, the recordings of a room, or all recordings`()
    async throws
  {
    let daemon = try await FakeDaemon()
    for subject in ["main-1", "main"] {
      let run = await daemon.run(["record", "verify", subject])
      #expect(run.status == .done)
      #expect(run.output.contains("main-1"))
    }
    let all = await daemon.run(["record", "verify", "--all"])
    #expect(all.status == .failed)
    #expect(all.output.contains("segment 1 has been altered or is incomplete"))
    #expect(await daemon.run(["record", "verify", "none of these"]).status == .failed)
    for wrong in [[], ["main-1", "--all"]] {
      #expect(await daemon.run(["record", "verify"] + wrong).status == .usage)
    }
    await daemon.stop()
  }

  @Test func `the list of recordings combines all pages of the answer, oldest first`() async throws
  {
    let daemon = try await FakeDaemon()
    let run = await daemon.run(["record", "list", "pages", "--json=short"])
    let names = try JSONValue(parsing: run.output).arrayValue?.map { $0["recording"]?.stringValue }
    #expect(names == ["p1", "p2", "p3", "p4", "p5"])
    await daemon.stop()
  }

  @Test func `set takes a control's value or position and prints the result`() async throws {
    let daemon = try await FakeDaemon()
    for (argument, member, value): (String, String, JSONValue) in [
      ("0.25", "value", 0.25), ("1", "value", 1.0), ("on", "on", true), ("off", "on", false),
      ("toggle", "on", true),
    ] {
      let run = await daemon.run(["set", "main", "zoom", argument, "--json=short"])
      #expect(run.status == .done)
      let reply = try JSONValue(parsing: run.output)
      #expect(reply[member] == value, "\(argument)")
      #expect(reply["control"] == "zoom")
    }
    #expect(await daemon.run(["set", "main", "zoom", "0.25"]).output.isEmpty)
    for bad in ["1.1", "nan", "many", ""] {
      #expect(await daemon.run(["set", "main", "zoom", bad]).status == .usage, "\(bad)")
    }
    let refused = await daemon.run(["set", "main", "one too many", "1"])
    #expect(refused.status == .failed)
    // The controller answers.
    let locked = await daemon.run(["set", "main", "locked", "1"])
    #expect(locked.status == .failed)
    #expect(locked.diagnostics.contains("locked was not set: no answer"))
    let error = try JSONValue(
      parsing: await daemon.run(["set", "main", "locked", "1", "--json=short"]).output)["error"]
    #expect(error?["reason"] == "no answer" && error?["value"] == 0.25)
    await daemon.stop()
  }

  @Test func `a request to an external recorder prints its outcome, and a refusal is an error`()
    async throws
  {
    let daemon = try await FakeDaemon()
    for verb in ["start", "resume", "stop"] {
      let run = await daemon.run(["record", verb, "main", "--elsewhere", "--json=short"])
      #expect(run.status == .done)
      let reply = try JSONValue(parsing: run.output)
      #expect(reply["wish"] == .string(verb) && reply["outcome"] == "confirmed")
    }
    let refused = await daemon.run(["record", "pause", "--elsewhere", "main"])
    #expect(refused.status == .failed)
    #expect(refused.diagnostics.contains("the external recorder refused: not now"))
    await daemon.stop()
  }

  @Test func `metrics prints Prometheus text or JSON`() async throws {
    let daemon = try await FakeDaemon()
    #expect(
      await daemon.run(["metrics"]).output == """
        # HELP livehost_rooms Open rooms.
        # TYPE livehost_rooms gauge
        livehost_rooms 1

        """)
    let json = try JSONValue(parsing: await daemon.run(["metrics", "--json=short"]).output)
    #expect(json["metrics"]?.arrayValue?.first?["name"] == "livehost_rooms")
    await daemon.stop()
  }

  @Test func `why prints text or JSON, and lists the existing views for an unknown view`()
    async throws
  {
    let daemon = try await FakeDaemon()
    let text = await daemon.run(["why", "main", "HostView"])
    #expect(text.output.contains("HostView of room main: 3 evaluations, 1 of them avoidable"))
    #expect(text.output.contains("stream -> phase"))
    #expect(
      await daemon.run(["why", "main", "HostView", "--count", "0"]).output.contains("newest")
        == false)
    let json = await daemon.run(["why", "main", "HostView", "--json=short"])
    #expect(try JSONValue(parsing: json.output)["evaluations"] == 3)
    let missing = await daemon.run(["why", "main", "Other"])
    #expect(missing.status == .failed)
    #expect(missing.diagnostics.contains("it has HostView"))
    await daemon.stop()
  }

  @Test func `hangs prints text or JSON, and can be limited to recent hangs`() async throws {
    let daemon = try await FakeDaemon()
    #expect(await daemon.run(["hangs"]).output == "no hang, no microhang\n")
    daemon.service.hangs.add(
      HangReport(
        number: 0, timestamp: 5_000, kind: .hang, reason: .busy, durationMicroseconds: 812_345,
        lane: 0, room: "main", action: "chat.messages"))
    let text = await daemon.run(["hangs"])
    #expect(text.output.contains("812 ms"))
    #expect(text.output.contains("action chat.messages"))
    let json = await daemon.run(["hangs", "--since", "@4", "--json=short"])
    #expect(try JSONValue(parsing: json.output)["hangs"]?.arrayValue?.count == 1)
    #expect(await daemon.run(["hangs", "--since=1h"]).output == "no hang, no microhang\n")
    #expect(await daemon.run(["hangs", "--since", "-1h"]).output == "no hang, no microhang\n")
    let soon = await daemon.run(["hangs", "--since", "soon"])
    #expect(soon.status == .usage)
    #expect(soon.diagnostics.contains("'soon'") && soon.diagnostics.contains("such as -1h"))
    await daemon.stop()
  }

  @Test func `a request refused by the daemon causes an exit code and prints the reason`()
    async throws
  {
    let daemon = try await FakeDaemon()
    let missing = await daemon.run(["show", "nowhere"])
    #expect(missing.status == .failed)
    #expect(missing.diagnostics.contains("no room 'nowhere'"))
    #expect(await daemon.run(["open", "main"]).status == .failed)
    #expect(await daemon.run(["open", "other"]).status == .done)
    #expect(await daemon.run(["close", "nowhere"]).status == .failed)
    #expect(await daemon.run(["close", "main"]).status == .done)
    #expect(await daemon.run(["watch", "nowhere"]).status == .failed)
    let refused = await daemon.run(["send", "main", "{\"type\":\"nonsense\"}"])
    #expect(refused.status == .badData)
    #expect(refused.diagnostics.contains("unknown 'type'"))
    let sent = await daemon.run(["send", "--json=short", "main", "{\"type\":\"chat.clear\"}"])
    #expect(sent.output == "{\"received\":1,\"rejected\":0}\n")
    await daemon.stop()
  }

  @Test(arguments: [["open", "x"], ["close", "main"], ["send", "main", "{\"type\":\"t\"}"]])
  func `a verb that changes a room fails with its own exit code if the user may not change it`(
    arguments: [String]
  ) async throws {
    let daemon = try await FakeDaemon(mayChange: false)
    #expect(await daemon.run(arguments).status == .notPermitted)
    #expect(await daemon.run(["show", "main"]).status == .done)
    await daemon.stop()
  }

  @Test func `watch with --json prints each change on a line until it is interrupted`() async throws
  {
    let daemon = try await FakeDaemon()
    let capture = Capture()
    let (writes, written) = AsyncStream<Void>.makeStream()
    let tool = CommandLineTool(
      console: capture.console { written.yield() },
      environment: ProcessEnvironment(
        variables: ["LIVEHOST_SOCKET": daemon.directory.path], userID: 0))
    var room = FakeService.room
    daemon.service.show(room)
    let task = Task { await tool.run(["watch", "main", "header", "--json=short"]) }
    var changes = writes.makeAsyncIterator()
    await changes.next()
    room.features.header?.viewers = 5
    daemon.service.show(room)
    await changes.next()
    task.cancel()
    #expect(await task.value == .interrupted)
    let values = try capture.text.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    #expect(values.map { $0["features"]?["header"]?["viewers"] } == [0, 5])
    #expect(values[0]["features"]?.objectValue?.keys.sorted() == ["header"])
    await daemon.stop()
  }

  @Test func `a verb ends without an error if the reader closes the pipe`() async throws {
    let daemon = try await FakeDaemon()
    let console = Console(write: { _ in throw OutputClosed() }, diagnose: { _ in })
    let tool = CommandLineTool(
      console: console,
      environment: ProcessEnvironment(
        variables: ["LIVEHOST_SOCKET": daemon.directory.path], userID: 0))
    #expect(await tool.run(["rooms"]) == .done)
    await daemon.stop()
  }
}
