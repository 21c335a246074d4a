import CommandLineTool
import ControlInterface
import JSON
import Systemd
import TestSupport
import Testing

/// Tests that need no journal. `Tests/Interop/test_journal.py` reads a real journal.
@Suite struct JournalTests {
  private func entry(_ fields: [String: String]) -> JournalEntry {
    JournalEntry(realtimeMicroseconds: 5_000_999, fields: fields)
  }

  /// A hang's entry as journald returns it.
  private func entry(of hang: HangReport) -> JournalEntry {
    let kind: JournalMessageID = hang.kind == .hang ? .hang : .microhang
    var fields = ["MESSAGE_ID": kind.rawValue]
    for (name, value) in hang.journalFields { fields[JournalFieldName.make(name)] = value }
    return entry(fields)
  }

  private let hang = HangReport(
    number: 7, timestamp: 4_200, kind: .hang, reason: .blocked, durationMicroseconds: 800_001,
    lane: 1, room: "main", action: "chat.messages", processorMicroseconds: 3,
    waitedMicroseconds: 4)

  @Test func `a hang read from the journal equals the hang that was logged`() {
    var other = HangReport(
      number: 8, timestamp: 0, kind: .microhang, reason: .busy, durationMicroseconds: 250_000,
      lane: 0)
    for view in ["ChatView", nil] {
      other.view = view
      #expect(HangList.report(entry(of: other)) == other)
    }
    #expect(HangList.report(entry(of: hang)) == hang)
  }

  @Test func `a journal entry that lacks a field of a hang is not read as a hang`() {
    for name in ["number", "timestamp", "durationUsec", "lane", "reason"] {
      var entry = entry(of: hang)
      entry.fields[JournalFieldName.make(name)] = nil
      #expect(HangList.report(entry) == nil, "\(name)")
    }
    #expect(HangList.report(entry(["MESSAGE_ID": JournalMessageID.roomOpened.rawValue])) == nil)
  }

  @Test(
    arguments: [
      ("chat.messages", nil, "chat"), ("stream", nil, nil),
      ("liveRoomStats.window", nil, "liveRoomStats"),
      (nil, "WaitingRoomView", "waitingRoom"), (nil, "HostView", nil), (nil, nil, nil),
    ] as [(String?, String?, String?)])
  func `a hang is attributed to the feature whose action or view blocked the lane`(
    action: String?, view: String?, feature: String?
  ) {
    var hang = hang
    (hang.action, hang.view) = (action, view)
    #expect(hang.feature?.rawValue == feature)
    #expect(hang.journalFields["feature"] == feature)
  }

  @Test
  func `hangs are filtered by their start, other journal entries by the time of writing`() {
    var query = JournalQuery()
    query.kinds = [.hang, .microhang]
    let entry = entry(of: hang)
    for (since, until, isIn) in [
      (4_200, nil, true), (4_201, nil, false), (nil, 4_200, true), (nil, 4_199, false),
    ] as [(Int?, Int?, Bool)] {
      (query.since, query.until) = (since, until)
      #expect(query.admits(entry) == isIn)
    }
    query.kinds = []
    (query.since, query.until) = (5_000, 5_000)
    #expect(query.admits(entry))
    query.since = 5_001
    #expect(!query.admits(entry))
  }

  @Test func `a journal entry is printed as text and as JSON`() throws {
    let entry = entry([
      "MESSAGE": "room main\u{1B}[2J opened", "PRIORITY": "5", "LIVEHOST_ROOM": "main",
      "MESSAGE_ID": JournalMessageID.roomOpened.rawValue, "_HOSTNAME": "vm", "_PID": "12",
    ])
    let line = JournalText.line(entry)
    #expect(line.hasSuffix("05.000  notice   room main\u{FFFD}[2J opened"))
    let json = JournalText.json(entry)
    #expect(json["timestamp"] == 5_000)
    #expect(json["kind"] == "room-opened")
    #expect(json["level"] == "notice")
    #expect(json["room"] == "main")
    #expect(
      json["fields"]?.objectValue?.keys.sorted() == ["LIVEHOST_ROOM", "MESSAGE_ID", "_PID"])
  }

  @Test func `all kinds of journal entries are listed with their fields`() async throws {
    let text = await run(["journal", "--kinds"])
    #expect(text.status == .done)
    let json = try JSONValue(parsing: await run(["journal", "--kinds", "--json=short"]).output)
    let kinds = try #require(json["kinds"]?.arrayValue)
    #expect(kinds.count == JournalMessageID.allCases.count)
    for kind in kinds {
      #expect(text.output.contains(try #require(kind["messageID"]?.stringValue)))
    }
  }

  @Test func `the error for a directory without a journal names the directory and the remedy`()
    async throws
  {
    let directory = TemporaryDirectory()
    for (path, what) in [
      (directory.path, "no readable journal files"), ("/nonexistent", "No such file"),
    ] {
      let run = await run(["journal", "--directory", path])
      #expect(run.status == .failed)
      #expect(run.diagnostics.contains(path) && run.diagnostics.contains(what))
      #expect(run.diagnostics.contains("/var/log/journal/"))
    }
  }
}
