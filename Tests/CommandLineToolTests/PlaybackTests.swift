import CommandLineTool
import Testing

@Suite struct LineTimestampTests {
  private func milliseconds(_ line: String) -> Int64? {
    Array(line.utf8).withUnsafeBytes { LineTimestamp.milliseconds(in: $0) }
  }

  @Test(arguments: [
    ("@badges=;tmi-sent-ts=1594543283321;turbo=0 :a PRIVMSG #b :c", Int64(1_594_543_283_321)),
    ("@tmi-sent-ts=5 :a PRIVMSG #b :c", 5),
    ("{\"type\":\"viewers\",\"ts\":17,\"count\":1}", 17),
    ("{ \"ts\" : 17.9 }", 17),
    ("{\"text\":\"\\\"ts\\\":1\",\"ts\":2}", 2),
    ("{\"text\":\"ts\",\"ts\":3}", 3),
    ("{\"ats\":1,\"ts\":4}", 4),
  ])
  func `the timestamp of an event is found anywhere in its line`(line: String, expected: Int64) {
    #expect(milliseconds(line) == expected)
  }

  @Test(arguments: [
    "", " ", "PING :x", ":a PRIVMSG #b :tmi-sent-ts=5", "@a=b :x PRIVMSG #c :;tmi-sent-ts=5",
    "@xtmi-sent-ts=5 :a", "{}", "{\"type\":\"a\"}", "{\"ts\":\"x\"}", "{\"ts\"", "@tmi-sent-ts= :a",
  ])
  func `text that only resembles an event's timestamp is ignored`(line: String) {
    #expect(milliseconds(line) == nil)
  }
}

@Suite struct PacerTests {
  @Test func `playback multiplies the intervals between lines by the factor`() {
    var pacer = Pacer(factor: 4)
    #expect(pacer.due(timestamp: 10_000, now: 7) == 7)
    #expect(pacer.due(timestamp: 10_400, now: 8) == 100_000_007)
    #expect(pacer.due(timestamp: nil, now: 9) == 9)
  }

  @Test func `a line dated before the first line is due immediately`() {
    var pacer = Pacer(factor: 1)
    _ = pacer.due(timestamp: 1_000, now: 50)
    #expect(pacer.due(timestamp: 600, now: 60) == 50)
  }

  @Test
  func
    `a line more than a day after the line before is due immediately, and later lines follow it`()
  {
    var pacer = Pacer(factor: 1)
    _ = pacer.due(timestamp: 1_000, now: 5)
    #expect(pacer.due(timestamp: 4_200_000_000_000, now: 10) == 10)
    #expect(pacer.due(timestamp: 4_200_000_000_002, now: 11) == 2_000_010)
    #expect(pacer.due(timestamp: 3_000, now: 20) == 10)
  }

  @Test func `a line whose slowed-down time is too far in the future is never due`() {
    var pacer = Pacer(factor: 0.000_01)
    _ = pacer.due(timestamp: 0, now: 0)
    #expect(pacer.due(timestamp: 86_400_000, now: 1) == .max)
  }
}

@Suite struct PlaybackQueueTests {
  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
  private let line = { (time: Int) in "{\"ts\":\(time)}\n" }

  @Test func `lines are returned when they are due, those with equal times together`()
    throws
  {
    var queue = PlaybackQueue(speed: .times(1), format: .auto)
    queue.append((line(0) + line(0) + line(100) + line(50) + line(200)).utf8)
    var output: [UInt8] = []
    #expect(
      try queue.moveDueLines(now: 1_000, limit: 1_000, into: &output) == .waits(until: 100_001_000))
    #expect(text(output) == line(0) + line(0))
    #expect(
      try queue.moveDueLines(now: 100_000_999, limit: 1_000, into: &output)
        == .waits(until: 100_001_000))
    output = []
    #expect(
      try queue.moveDueLines(now: 100_001_000, limit: 1_000, into: &output)
        == .waits(until: 200_001_000))
    // The older line keeps its position and is due together with the line before it.
    #expect(text(output) == line(100) + line(50))
    output = []
    #expect(try queue.moveDueLines(now: 300_000_000, limit: 1_000, into: &output) == .needsInput)
    queue.finish()
    #expect(try queue.moveDueLines(now: 300_000_000, limit: 1_000, into: &output) == .ended)
    #expect(queue.lines == 5)
  }

  @Test func `at full speed, only the size limit of the output holds lines back`() throws {
    var queue = PlaybackQueue(speed: .maximum, format: .auto)
    queue.append((0..<100).map { "{\"ts\":\($0)000000}\n" }.joined().utf8)
    var output: [UInt8] = []
    #expect(try queue.moveDueLines(now: 0, limit: 100, into: &output) == .full)
    #expect(output.count >= 100 && output.count < 130)
    #expect(output.last == 0x0A)
  }

  @Test(arguments: [1, 2, 3, 7, 1_000])
  func `playback outputs its input unchanged, however the input is split`(size: Int) throws {
    let input = Array("a\n\nbb\r\nccc\nlast".utf8)
    var queue = PlaybackQueue(speed: .maximum, format: .auto)
    var output: [UInt8] = []
    var rest = input[...]
    while !rest.isEmpty {
      queue.append(rest.prefix(size))
      rest = rest.dropFirst(size)
      #expect(try queue.moveDueLines(now: 0, limit: 1_000, into: &output) == .needsInput)
    }
    queue.finish()
    #expect(try queue.moveDueLines(now: 0, limit: 1_000, into: &output) == .ended)
    #expect(text(output) == text(input) + "\n")
    #expect(queue.lines == 5)
    #expect(queue.count == 0)
  }

  @Test func `a line without an end is passed on instead of being buffered`() throws {
    var queue = PlaybackQueue(speed: .times(1), format: .native)
    var output: [UInt8] = []
    queue.append(repeatElement(UInt8(ascii: "{"), count: PlaybackQueue.longestLine + 1))
    #expect(try queue.moveDueLines(now: 0, limit: 8 << 20, into: &output) == .needsInput)
    #expect(queue.isInsideLine)
    #expect(queue.count == 0)
    queue.append("}\n{\"ts\":1}\n".utf8)
    #expect(try queue.moveDueLines(now: 0, limit: 8 << 20, into: &output) == .needsInput)
    #expect(!queue.isInsideLine)
    #expect(queue.lines == 2)
    #expect(output.count == PlaybackQueue.longestLine + 12)
  }

  @Test func `a line in another format causes an error with its line number`() throws {
    var queue = PlaybackQueue(speed: .maximum, format: .twitchIRC)
    queue.append("PING :x\n\n@a=b :x\n{\"ts\":1}\n".utf8)
    var output: [UInt8] = []
    #expect(throws: Failure(.badData, "line 4 is not in the format twitch-irc")) {
      try queue.moveDueLines(now: 0, limit: 1_000, into: &output)
    }
    #expect(text(output) == "PING :x\n\n@a=b :x\n")
  }
}

@Suite struct SyncScheduleTests {
  @Test
  func `playback sends a sync line every second if it has sent events and no sync is unanswered`() {
    var syncs = SyncSchedule(prefix: "t", now: 0)
    #expect(syncs.line(now: 5_000_000_000, sentBytes: 0) == nil)
    #expect(syncs.nextTime(sentBytes: 0) == nil)
    #expect(syncs.line(now: 999_999_999, sentBytes: 10) == nil)
    #expect(syncs.nextTime(sentBytes: 10) == 1_000_000_000)
    #expect(
      syncs.line(now: 1_000_000_000, sentBytes: 10) == "{\"type\":\"sync\",\"token\":\"t1\"}\n")
    #expect(syncs.line(now: 9_000_000_000, sentBytes: 20) == nil)
    #expect(!syncs.isSettled)
    syncs.receive(token: "t1", received: 3, rejected: 1)
    #expect(syncs.isSettled)
    #expect(syncs.confirmed == SyncSchedule.Confirmed(received: 3, rejected: 1))
    #expect(syncs.line(now: 9_000_000_000, sentBytes: 20)?.contains("t2") == true)
  }

  @Test func `playback sends a sync line earlier if many bytes were sent`() {
    var syncs = SyncSchedule(prefix: "t", now: 0)
    #expect(syncs.line(now: 1, sentBytes: 8 << 20) != nil)
  }

  @Test(arguments: ["u1", "t0", "t2", "t", "t-1", "t99999999999999999999"])
  func `answers to sync lines contained in the recording are ignored`(token: String) {
    var syncs = SyncSchedule(prefix: "t", now: 0)
    _ = syncs.lastLine(now: 1, sentBytes: 1)
    syncs.receive(token: token, received: 9, rejected: 9)
    #expect(!syncs.isSettled)
    #expect(syncs.confirmed == SyncSchedule.Confirmed())
  }

  @Test func `an answer that matches no sync line is ignored`() {
    var syncs = SyncSchedule(prefix: "t", now: 0)
    syncs.receive(token: "t1", received: 9, rejected: 9)
    #expect(syncs.isSettled)
    #expect(syncs.confirmed == SyncSchedule.Confirmed())
  }

  @Test func `the last sync line may be sent while another is unanswered`() {
    var syncs = SyncSchedule(prefix: "t", now: 0)
    _ = syncs.line(now: 2_000_000_000, sentBytes: 1)
    _ = syncs.lastLine(now: 2_000_000_001, sentBytes: 2)
    syncs.receive(token: "t1", received: 1, rejected: 0)
    #expect(!syncs.isSettled)
    syncs.receive(token: "t2", received: 2, rejected: 0)
    #expect(syncs.isSettled)
  }
}
