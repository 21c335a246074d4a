import CommandLineTool
import ControlInterface
import ControlTestSupport
import Glibc
import JSON
import Testing

@Suite struct HostVerbTests {
  /// A room with waiting people and a chat filter set by the host.
  private static let report: RoomReport = {
    var room = FakeService.room
    room.features.chat?.modes = ChatModesReport(
      slowSeconds: 30, followersOnlyMinutes: -1, subscribersOnly: true)
    room.features.chat?.noticeQueue = [
      NoticeReport(
        number: 3, kind: "giftBomb", user: UserReport(id: "u", name: "ann"), count: 1_000,
        timestamp: 1, pinned: true),
      NoticeReport(
        number: 4, kind: "raid", user: UserReport(id: "u", name: "bob"), count: 7, timestamp: 2),
    ]
    room.features.chat?.filter = ChatFilterReport(words: "hi")
    room.features.chat?.filtered = [
      ChatMessageReport(
        id: "1", user: UserReport(id: "u", name: "ann"), text: "hi\u{1B}[2J @ann", timestamp: 1,
        mention: true)
    ]
    room.features.chat?.mentionedNames = ["ann"]
    room.features.chat?.unread = 2
    room.features.activity = ActivityReport(
      total: 9,
      rows: [
        ActivityRowReport(
          number: 4, kind: "follow", name: "ann\u{1B}", times: 3, count: 0, timestamp: 1,
          pinned: true),
        ActivityRowReport(
          number: 7, kind: "redemption", name: "bob", times: 1, count: 1_000, title: "Hydrate",
          text: "now", timestamp: 2, pinned: false, platform: "kick"),
      ], goals: [])
    room.features.waitingRoom = WaitingRoomReport(
      waiting: 1_000, admitted: 2, capacity: 20, secondsLeft: 75, startsAt: 5,
      people: [UserReport(id: "u1", name: "ann")])
    return room
  }()

  @Test func `admit prints the admitted people, as text and as JSON`() async throws {
    let daemon = try await FakeDaemon(report: Self.report)
    let all = await daemon.run(["admit", "main", "--all"])
    #expect(all.status == .done)
    #expect(
      all.output == "let in an\u{FFFD}n (u1)\nlet in bob (u2)\n1,000 waiting, 2 admitted\n")
    let json = await daemon.run(["admit", "main", "--all", "-j"])
    let reply = try JSONValue(parsing: json.output)
    #expect(reply["admitted"] == 2 && reply["people"]?.arrayValue?.count == 2)
    #expect(reply["unread"] == nil)
    await daemon.stop()
  }

  @Test(arguments: [
    (["admit", "main"], "nobody is waiting in the room 'main'"),
    (
      ["admit", "main", "u7"],
      "'u7' is not waiting in the room 'main'; 'livehostctl show main waitingRoom'"
    ),
    (["admit", "main", "full"], "its capacity is 3; 'livehostctl capacity main COUNT'"),
    (["admit", "none"], "there is no room 'none'"),
    (["chat", "thread", "main", "none"], "has no message 'none'"),
    (["activity", "pin", "main", "99"], "has no activity 99; 'livehostctl activity list main'"),
    (["chat", "pin", "main", "4"], "has no notice 4; 'livehostctl chat notices main'"),
  ])
  func `the error for a refused host action names the argument and the remedy`(
    arguments: [String], text: String
  ) async throws {
    let daemon = try await FakeDaemon()
    let run = await daemon.run(arguments)
    #expect(run.status == .failed)
    #expect(run.diagnostics.contains(text), "\(run.diagnostics)")
    #expect(run.output.isEmpty)
    await daemon.stop()
  }

  @Test(arguments: [
    ["admit", "main", "u1", "--all"], ["admit"], ["admit", "main", ""],
    ["capacity", "main", "-1"], ["capacity", "main", "many"], ["schedule", "main", "soon"],
    ["schedule", "main", "25:00"], ["chat", "filter", "main", "--words", ""],
    ["chat", "scroll", "main", "up"], ["chat", "pin", "main", "one"],
    ["activity", "pin", "main", "one"],
    ["chat", "highlight", "main"] + (0..<33).map { "n\($0)" },
  ])
  func `invalid arguments of the host's verbs are usage errors`(arguments: [String]) async throws {
    let daemon = try await FakeDaemon()
    #expect(await daemon.run(arguments).status == .usage, "\(arguments)")
    await daemon.stop()
  }

  @Test(arguments: [
    (["chat", "filter", "main", "--words", "hi"], "1 message passes\n"),
    (["chat", "filter", "main"], "9 messages pass\n"),
    (["chat", "highlight", "main", "ann", "bob"], "2 mentions\n"),
    (["chat", "scroll", "main", "back"], ""),
    (["chat", "scroll", "main", "back", "-j"], #"{"unread":5}"# + "\n"),
    (["chat", "thread", "main", "1"], "ann: hi\u{FFFD}[2J\n"), (["chat", "thread", "main"], ""),
    (["chat", "pin", "main", "3"], ""), (["chat", "dismiss", "main", "3", "-j"], "{}\n"),
    (
      ["chat", "notices", "main"],
      "notice 3: ann gave 1,000 subscriptions (pinned)\nnotice 4: bob raids with 7 viewers\n"
    ),
    (
      ["activity", "list", "main"],
      "4  follow  ann\u{FFFD}  3 times  (pinned)\n7  redemption  bob  1,000  Hydrate  now  [kick]\n"
    ),
    (
      ["activity", "main"],
      "4  follow  ann\u{FFFD}  3 times  (pinned)\n7  redemption  bob  1,000  Hydrate  now  [kick]\n"
    ),
    (["activity", "pin", "main", "7"], ""), (["activity", "unpin", "main", "4", "-j"], "{}\n"),
    (["activity", "dismiss", "main", "7", "-j"], "{}\n"),
    (["capacity", "main", "20"], "1,000 waiting, 2 of 20 admitted, begins in 1:15\n"),
    (["schedule", "main", "none"], "1,000 waiting, 2 of 20 admitted, begins in 1:15\n"),
  ])
  func `each verb of the host prints its result`(arguments: [String], output: String) async throws {
    let daemon = try await FakeDaemon(report: Self.report)
    let run = await daemon.run(arguments)
    #expect(run.status == .done, "\(run.diagnostics)")
    #expect(run.output == output)
    await daemon.stop()
  }

  @Test func `status lists sources with events that could not be shown`() async throws {
    let silent = SourceReport(
      room: "b", source: "obs", lost: 0, backfilled: 0, duplicate: 0, gaps: 0, gapMs: 0,
      timestamp: 1)
    var hook = silent
    (hook.source, hook.notShown, hook.reason) = (
      "hook", 1_200, "no rule for 1200: 1200 Refund\u{1B}"
    )
    let status = try await FakeService().getStatus()
    let lines = StatusText.lines(status, sources: [hook])
    #expect(
      lines.contains(
        "  not shown     1,200 of hook in room b: no rule for 1200: 1200 Refund\u{FFFD}"))
    #expect(!StatusText.lines(status).contains { $0.contains("not shown") })
  }

  @Test(arguments: [
    ("Europe/Berlin", 1_795_464_000, 3_600), ("Europe/Berlin", 1_782_000_000, 7_200),
    ("UTC", 1_795_464_000, 0), ("Asia/Kolkata", 1_795_464_000, 19_800),
    // On 28 March 2027, clocks in Berlin move from 2:00 to 3:00.
    ("Europe/Berlin", 1_806_199_199, 3_600), ("Europe/Berlin", 1_806_202_800, 7_200),
  ])
  func `the offset of a local time from UTC follows the rules of its time zone`(
    zone: String, local: Int, seconds: Int
  ) {
    #expect(TimeZoneName(argument: zone)?.secondsFromUTC(local: local) == seconds)
  }

  @Test func `an unknown time zone is rejected`() {
    #expect(TimeZoneName(argument: "Europe/Nowhere") == nil)
    #expect(TimeZoneName(argument: "local") != nil)
  }

  @Test func `a start time can be a duration, a time of day or seconds since 1970`() {
    let zone = getenv("TZ").map { String(cString: $0) }
    setenv("TZ", "UTC0", 1)
    tzset()
    // Later tests also read the zone.
    defer {
      if let zone { setenv("TZ", zone, 1) } else { unsetenv("TZ") }
      tzset()
    }
    // 2023-11-14 22:13:20
    let now = 1_700_000_000_000
    func time(_ text: String) -> Int?? { StartTime(text, now: now).map(\.milliseconds) }
    #expect(time("10m") == now + 600_000)
    #expect(time("90s") == now + 90_000)
    #expect(time("@1700000001") == now + 1_000)
    #expect(time("22:14") == now + 40_000)
    #expect(time("22:13") == now - 20_000 + 86_400_000, "tomorrow")
    #expect(time("9:05") == now + 39_100_000)
    #expect(time("none") == .some(nil))
    for text in ["", "22:1", "22:60", "24:00", "1:2:3", "-1:00", "10", "10x", ":"] {
      #expect(time(text) == nil, "\(text)")
    }
  }
}
