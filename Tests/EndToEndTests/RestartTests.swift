import Foundation
import SocketTestSupport
import Testing

/// Checks which parts of a room survive a stop or a kill of the daemon.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct RestartTests {
  /// Every kind of event that changes a room's report, ordered so that the effects of all stay
  /// visible.
  private static let events = """
    {"type":"title","ts":1000,"title":"Evening show"}
    {"type":"waiting.join","ts":1001,"user":{"id":"w1","name":"Wanda"}}
    {"type":"chat.message","ts":1100,"id":"m1","user":{"id":"u1","name":"Ada"},"text":"hello \\"all\\" \\u00e9"}
    {"type":"chat.message","ts":1200,"id":"m2","user":{"id":"a-name-of-more-than-fifteen-bytes","name":"Bob"},"text":"@Ada hi"}
    {"type":"chat.timeout","ts":1300,"user":{"id":"u3","name":"Eve"},"seconds":600}
    {"type":"chat.notice","ts":1400,"kind":"giftBomb","user":{"id":"u1","name":"Ada"},"count":3,"group":"g1"}
    {"type":"chat.notice","ts":1401,"kind":"gift","user":{"id":"u1","name":"Ada"},"count":1,"group":"g1"}
    {"type":"viewers","ts":1500,"count":120}
    {"type":"reaction","ts":1600,"kind":"heart","count":50}
    {"type":"slider","ts":1700,"control":"zoom","phase":"begin","value":0.1}
    {"type":"slider","ts":1701,"control":"zoom","phase":"end","value":0.7}
    {"type":"tap","ts":1702,"control":"microphone","on":true}
    {"type":"stats","ts":1800,"bitrateKbps":4000,"framesPerSecond":60,"droppedFrames":0,"roundTripMs":20,"congestion":0}
    {"type":"recorder.state","ts":1900,"state":"recording"}
    {"type":"recorder.progress","ts":1901,"bytes":12345,"durationMs":900}
    {"type":"poll.begin","ts":1900,"id":"p1","title":"Which map?","options":["old","new"],"endsAt":9000}
    {"type":"poll.votes","ts":1901,"id":"p1","totals":[3,4]}
    {"type":"meter","ts":1902,"input":"mic","levels":[0.5,0.25]}
    {"type":"nonsense","ts":1903}

    """

  /// Starts a daemon with the state directory of another one, which has ended.
  private func successor(of daemon: RunningDaemon) throws -> RunningDaemon {
    try RunningDaemon(
      arguments: ["--state-dir", daemon.directory.appendingPathComponent("state").path])
  }

  /// Returns the features and event counters that `show` reports, without values that change with
  /// time: the chat's rate and, if the room records, the recorder's progress.
  private func shown(_ daemon: RunningDaemon, records: Bool = false) throws -> NSDictionary {
    let outcome = try daemon.ctl("show", "main", "--json=short")
    try #require(outcome.status == 0, "\(outcome.diagnostics)")
    let report = try outcome.json()
    var features = try #require(report["features"] as? [String: Any])
    if records { features["recorder"] = nil }
    var chat = features["chat"] as? [String: Any]
    chat?["rate"] = nil
    features["chat"] = chat
    return [
      "phase": try #require(report["phase"]), "features": features,
      "counters": try #require(report["counters"]),
      "rejectedByReason": try #require(report["rejectedByReason"]),
    ]
  }

  private func ingest(_ text: String, into daemon: RunningDaemon) throws {
    let outcome = try daemon.ctl("ingest", "-", "--speed", "max", input: text)
    try #require(outcome.status == 0, "\(outcome.diagnostics)")
  }

  @Test func `a killed daemon restores its rooms with everything that it acknowledged`() throws {
    let first = try RunningDaemon()
    try ingest(Self.events, into: first)
    let before = try shown(first)
    #expect(before["features"] as? NSDictionary != nil)
    first.kill()
    let second = try successor(of: first)
    #expect(try shown(second) == before)
    #expect(second.log.contains("room main opened with the state from before the restart"))

    // State that the report omits is also restored: deleted messages stay deleted, and gifts are
    // assigned to their gift bomb.
    try ingest(
      """
      {"type":"chat.message","ts":1250,"id":"m3","user":{"id":"u3","name":"Eve"},"text":"late"}
      {"type":"chat.notice","ts":1402,"kind":"gift","user":{"id":"u1","name":"Ada"},"count":1,"group":"g1"}
      {"type":"poll.votes","ts":1950,"id":"p1","totals":[9,4]}
      {"type":"poll.end","ts":1951,"id":"p1","winner":0}
      {"type":"chat.message","ts":2000,"id":"m4","user":{"id":"a-name-of-more-than-fifteen-bytes","name":"Bob"},"text":"back"}

      """, into: second)
    let after = try shown(second)
    let chat = try #require((after["features"] as? [String: Any])?["chat"] as? [String: Any])
    let poll = try #require((after["features"] as? [String: Any])?["poll"] as? [String: Any])
    #expect(poll["state"] as? String == "ended", "the end event ended the restored poll")
    #expect(poll["winner"] as? Int == 0)
    #expect(chat["total"] as? Int == 4)
    #expect(chat["deleted"] as? Int == 1, "the deletion from before the restart is still in force")
    #expect(chat["chatters"] as? Int == 3)
    #expect(second.stop() == 0)
  }

  @Test func `after a stop and a start, all rooms exist except the closed ones`() throws {
    let first = try RunningDaemon()
    try ingest(Self.events, into: first)
    try ingest(#"{"type":"viewers","room":"other","count":3}"# + "\n", into: first)
    #expect(try first.ctl("close", "other").status == 0)
    let before = try shown(first)
    #expect(first.stop() == 0)
    let second = try successor(of: first)
    #expect(try shown(second) == before)
    #expect(try second.ctl("show", "other").status == 1, "a closed room stays closed")
    #expect(second.stop() == 0)
    let third = try successor(of: first)
    #expect(try shown(third) == before, "a restart without any event in between changes nothing")
    #expect(third.stop() == 0)
  }

  @Test func `events held by throttles survive repeated kills of the daemon`() throws {
    let configuration = FileManager.default.temporaryDirectory
      .appendingPathComponent("held-\(UUID().uuidString).yaml")
    defer { try? FileManager.default.removeItem(at: configuration) }
    try "throttle: {reactions: {interval: 3000s}}\n".write(
      to: configuration, atomically: true, encoding: .utf8)
    let first = try RunningDaemon(arguments: ["--config", configuration.path])
    #expect(try first.ctl("open", "main").status == 0)
    #expect(try first.ctl("record", "start", "main").status == 0)
    let connection = try BlockingClient(first.ingestSocket)
    let reaction = #"{"type":"reaction","room":"main","kind":"heart","count":1}"# + "\n"
    try connection.write(String(repeating: reaction, count: 100))
    func recorded() throws -> Int {
      let list = try first.ctl("record", "list", "--json=short")
      let entries =
        try JSONSerialization.jsonObject(with: Data(list.output.utf8)) as? [[String: Any]]
      return try #require(entries?.first?["events"] as? Int)
    }
    while try recorded() < 100 {}
    first.kill()
    let second = try RunningDaemon(
      arguments: [
        "--config", configuration.path, "--state-dir",
        first.directory.appendingPathComponent("state").path,
      ])
    second.kill()
    // A stop applies the events that throttles hold.
    #expect(try successor(of: first).stop() == 0)
    let fourth = try successor(of: first)
    let report = try fourth.ctl("show", "main", "header", "--json=short").json()
    let header = (report["features"] as? [String: Any])?["header"] as? [String: Any]
    #expect(header?["likes"] as? Int == 100)
    #expect(fourth.stop() == 0)
  }

  @Test func `after a kill, an opened room is restored and a closed room is not`() throws {
    let first = try RunningDaemon()
    for room in ["opened", "closed"] { #expect(try first.ctl("open", room).status == 0) }
    #expect(try first.ctl("close", "closed").status == 0)
    first.kill()
    let second = try successor(of: first)
    let rooms = try second.ctl("rooms").output
    #expect(rooms.contains("opened"))
    #expect(!rooms.contains("closed"))
    #expect(second.stop() == 0)
  }

  @Test func `send and status report a room whose state cannot be saved`() throws {
    let state = try temporaryDirectory()
    defer { try? FileManager.default.removeItem(at: state) }
    // Files in place of the directories of the rooms and of the write-ahead log.
    for name in ["rooms", "log"] { _ = makeFile(state.appendingPathComponent(name)) }
    let daemon = try RunningDaemon(arguments: ["--state-dir", state.path])
    let send = try daemon.ctl("send", "main", #"{"type":"viewers","count":4}"#)
    #expect(send.status == 1)
    #expect(send.diagnostics.contains("cannot be saved for the next start"), "\(send.diagnostics)")
    let connection = try BlockingClient(daemon.ingestSocket)
    try connection.write(#"{"type":"viewers","room":"main","count":5}"# + "\n")
    try connection.write(#"{"type":"sync","token":"a"}"# + "\n")
    let answer = connection.readLine() ?? ""
    #expect(
      answer.contains(#""applied""#) && answer.contains("cannot be saved for the next start"),
      "\(answer)")
    #expect(try daemon.ctl("status", "--json=short").json()["health"] as? String == "degraded")
    #expect(daemon.stop() == 0)
  }

  @Test func `a recording continues in a new segment, whether the daemon was stopped or killed`()
    throws
  {
    let first = try RunningDaemon()
    #expect(try first.ctl("open", "main").status == 0)
    let start = try first.ctl("record", "start", "main", "--json=short")
    let name = try #require(try start.json()["recording"] as? String)
    try ingest(Self.events, into: first)
    #expect(first.stop() == 0)

    let second = try successor(of: first)
    #expect(second.log.contains("recording \(name) continues in a new segment"))
    try ingest(#"{"type":"viewers","ts":3000,"count":130}"# + "\n", into: second)
    let before = try shown(second, records: true)
    second.kill()

    let third = try successor(of: first)
    #expect(try shown(third, records: true) == before, "the state contains the last recorded event")
    try ingest(#"{"type":"viewers","ts":4000,"count":140}"# + "\n", into: third)
    let stop = try third.ctl("record", "stop", "main", "--json=short")
    #expect(stop.status == 0, "\(stop.diagnostics)")
    let recording = try stop.json()
    #expect(recording["recording"] as? String == name)
    #expect(recording["segments"] as? Int == 3)
    #expect(recording["events"] as? Int == 20, "exactly the events that the room applied")
    let export = try third.ctl("record", "export", name)
    #expect(export.output.split(separator: "\n").count == 20)
    third.kill()

    let fourth = try successor(of: first)
    let list = try fourth.ctl("record", "list", "--json=short")
    let isOver = list.output.contains(#""state":"finished""#)
    #expect(isOver, "a stopped recording does not continue: \(list.output)")
    #expect(fourth.stop() == 0)
  }

  @Test func `a paused recording stays paused after a kill and can be resumed`() throws {
    let first = try RunningDaemon()
    #expect(try first.ctl("open", "main").status == 0)
    let early = try first.ctl("record", "pause", "main")
    #expect(early.status == 1 && early.diagnostics.contains("is not being recorded"))
    let start = try first.ctl("record", "start", "main", "--json=short")
    let name = try #require(try start.json()["recording"] as? String)
    try ingest(Self.events, into: first)
    let pause = try first.ctl("record", "pause", "main", "--json=short")
    #expect(try pause.json()["recording"] as? String == name)
    let events = try #require(try pause.json()["events"] as? Int)
    try ingest(#"{"type":"viewers","ts":3000,"count":130}"# + "\n", into: first)
    first.kill()

    let second = try successor(of: first)
    let shown = try second.ctl("show", "main", "recorder")
    #expect(shown.output.contains("paused"), "\(shown.output)")
    let resume = try second.ctl("record", "resume", "main", "--json=short")
    #expect(try resume.json()["recording"] as? String == name, "\(resume.diagnostics)")
    try ingest(#"{"type":"viewers","ts":4000,"count":140}"# + "\n", into: second)
    let stop = try second.ctl("record", "stop", "main", "--json=short")
    let recording = try stop.json()
    #expect(recording["recording"] as? String == name && recording["digest"] is NSNull?)
    #expect(recording["events"] as? Int == events + 1)
    #expect(recording["state"] as? String == "finished")
    let verify = try second.ctl("record", "verify", name)
    #expect(verify.status == 0, "\(verify.output)\(verify.diagnostics)")
    #expect(second.stop() == 0)
  }

  @Test func `unreadable saved state is set aside with a warning, and the daemon starts`() throws {
    let first = try RunningDaemon()
    try ingest(Self.events, into: first)
    #expect(first.stop() == 0)
    let newest = first.directory.appendingPathComponent("state/rooms/main.json")
    let previous = newest.appendingPathExtension("previous")
    for file in [newest, previous] where FileManager.default.fileExists(atPath: file.path) {
      var bytes = try Data(contentsOf: file)
      bytes.removeLast(bytes.count / 2)
      try bytes.write(to: file)
    }
    try FileManager.default.removeItem(at: first.directory.appendingPathComponent("state/log"))
    let second = try successor(of: first)
    #expect(second.log.contains("rooms/main.json cannot be used and was renamed"))
    #expect(FileManager.default.fileExists(atPath: newest.path + ".unreadable"))
    #expect(try second.ctl("show", "main").status == 1)
    #expect(second.stop() == 0)
  }

  /// Starts the daemon with too little memory to restore a room, and returns how the process ended.
  private func starve(_ state: URL, bytes: Int) throws -> Process.TerminationReason {
    let directory = try temporaryDirectory()
    defer { try? FileManager.default.removeItem(at: directory) }
    let process = Process()
    // `timeout` ends the daemon if the daemon does not end.
    process.executableURL = URL(fileURLWithPath: "/usr/bin/timeout")
    process.arguments = [
      "60", "prlimit", "--data=\(bytes)", "--core=0",
      RunningDaemon.binaries.appendingPathComponent("livehostd").path, "--runtime-dir",
      directory.appendingPathComponent("run").path, "--state-dir", state.path,
    ]
    process.environment = try programEnvironment()
      .merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationReason
  }

  @Test(.enabled(if: !isSanitized, "a sanitizer needs more memory than this test allows"))
  func `only a room whose restoration kills the daemon twice is set aside`() throws {
    let first = try RunningDaemon()
    for room in ["heavy", "light"] {
      try ingest(#"{"type":"viewers","room":"\#(room)","count":4}"# + "\n", into: first)
    }
    let memory = try String(
      contentsOfFile: "/proc/\(first.process.processIdentifier)/status", encoding: .utf8)
    let kibibytes = try #require(memory.firstMatch(of: /VmData:\s*(\d+) kB/).flatMap { Int($0.1) })
    #expect(first.stop() == 0)
    // A snapshot too large for the memory limit, in the older format without a checksum.
    let state = first.directory.appendingPathComponent("state")
    let file = state.appendingPathComponent("rooms/heavy.json")
    let saved = try String(contentsOf: file, encoding: .utf8)
    let checksum = try #require(saved.range(of: #","n":1,"crc":"#)?.lowerBound)
    try #require(saved.hasPrefix(#"{"version":3,"#))
    let heavy =
      #"{"version":1,"# + String(repeating: " ", count: 60 << 20)
      + saved[..<checksum].dropFirst(#"{"version":3,"#.utf8.count) + "}"
    try heavy.write(to: file, atomically: true, encoding: .utf8)
    for _ in 1...2 {
      #expect(try starve(state, bytes: (kibibytes << 10) + (50 << 20)) == .uncaughtSignal)
    }

    let second = try successor(of: first)
    let isTold = second.log.contains(
      "room heavy is not restored: livehostd crashed 2 times in a row while restoring it")
    #expect(isTold, "\(second.log)")
    let rooms = try second.ctl("rooms").output
    #expect(rooms.contains("light") && !rooms.contains("heavy"), "\(rooms)")
    let status = try second.ctl("status").output
    #expect(status.contains("\(file.path).set-aside"), "\(status)")
    let kept = try Data(contentsOf: file.appendingPathExtension("set-aside"))
    #expect(kept == Data(heavy.utf8))
    #expect(second.stop() == 0)
  }

  @Test func `the daemon runs with an unusable state directory but saves no state`() throws {
    let directory = try temporaryDirectory()
    defer { try? FileManager.default.removeItem(at: directory) }
    let file = makeFile(directory.appendingPathComponent("file"))
    let daemon = try RunningDaemon(arguments: ["--state-dir", file.path])
    let ingest = try daemon.ctl("ingest", "-", "--speed", "max", input: Self.events)
    #expect(ingest.status == 1)
    #expect(ingest.diagnostics.contains("all lines are applied, but some are not saved"))
    #expect(try shown(daemon)["phase"] as? String == "waiting")
    #expect(daemon.stop() == 0)
    #expect(daemon.log.contains("cannot be saved for the next start"))
  }
}
