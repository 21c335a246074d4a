import Foundation
import TestSupport
import Testing

@Suite(.serialized)
struct RoomRecordingTests {
  private func list(_ daemon: RunningDaemon) throws -> [[String: Any]] {
    let outcome = try daemon.ctl("record", "list", "--json=short")
    #expect(outcome.status == 0, "\(outcome.diagnostics)")
    let value = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
    return try #require(value as? [[String: Any]])
  }

  @Test
  func `a recording started with livehostctl contains all ingested events and survives a restart`()
    throws
  {
    let daemon = try RunningDaemon()
    #expect(
      try daemon.ctl("record", "start", "main").status == 1, "a room must be open to be recorded")
    #expect(try daemon.ctl("open", "main").status == 0)
    let start = try daemon.ctl("--json=short", "record", "start", "main")
    #expect(start.status == 0, "\(start.diagnostics)")
    let name = try #require(try start.json()["recording"] as? String)
    #expect(
      try daemon.ctl("record", "start", "main").diagnostics.contains("is already being recorded"))
    let ingest = try daemon.ctl(
      "ingest", RecordingTests.recording, "--speed", "max", "--room", "main", "--json=short")
    #expect(ingest.status == 0, "\(ingest.diagnostics)")
    let running = try #require(try list(daemon).first)
    #expect(running["events"] as? Int == 5_000)
    #expect(running["state"] as? String == "recording")
    let stop = try daemon.ctl("record", "stop", "main", "--json=short")
    #expect(stop.status == 0, "\(stop.diagnostics)")
    #expect(try stop.json()["digest"] is String)
    #expect(try daemon.ctl("record", "list").output.contains(name))
    #expect(
      try daemon.ctl("record").output.contains("start"), "record without arguments lists its verbs")
    #expect(daemon.stop() == 0)
    #expect(daemon.log.contains("recording \(name) finished: 5000 events"))
  }

  /// Records the bundled stream in the room `main`, and returns the final report of the recording.
  private func recordMain(_ daemon: RunningDaemon) throws -> [String: Any] {
    #expect(try daemon.ctl("open", "main").status == 0)
    #expect(try daemon.ctl("record", "start", "main").status == 0)
    let ingest = try daemon.ctl(
      "ingest", RecordingTests.recording, "--speed", "max", "--room", "main")
    #expect(ingest.status == 0, "\(ingest.diagnostics)")
    return try daemon.ctl("record", "stop", "main", "--json=short").json()
  }

  @Test func `livehostctl replays, exports and analyses a recording`() throws {
    let daemon = try RunningDaemon()
    let stop = try recordMain(daemon)
    let name = try #require(stop["recording"] as? String)

    let replay = try daemon.ctl(
      "replay", name, "--room", "again", "--speed", "max", "--json=short")
    #expect(replay.status == 0, "\(replay.diagnostics)")
    #expect(try replay.json()["digest"] as? String == stop["digest"] as? String)
    #expect(try replay.json()["events"] as? Int == 5_000)

    let export = try daemon.ctl("record", "export", name)
    #expect(export.status == 0, "\(export.diagnostics)")
    let lines = export.output.split(separator: "\n")
    #expect(lines.count == 5_000)
    let copy = try daemon.ctl(
      "ingest", "-", "--room", "copy", "--speed", "max", input: export.output)
    #expect(copy.status == 0, "\(copy.diagnostics)")
    let chat = try daemon.ctl("show", "copy", "chat", "--json=short").json()
    let features = try #require(chat["features"] as? [String: Any])
    #expect((features["chat"] as? [String: Any])?["total"] as? Int == 4_933)

    let chatters = try daemon.ctl("analyze", "chatters", name, "--json=short")
    #expect(chatters.status == 0, "\(chatters.diagnostics)")
    #expect(try chatters.json()["messages"] as? Int == 4_933)
    #expect(try chatters.json()["chatters"] as? Int == 1_208)
    for what in ["highlights", "spam"] {
      #expect(try daemon.ctl("analyze", what, name, "--json=short").status == 0)
    }
    let room = try daemon.ctl("analyze", "chatters", "main", "--json=short")
    #expect(room.status == 0, "\(room.diagnostics)")
    #expect((try room.json()["messages"] as? Int ?? 0) > 0)
    #expect(try daemon.ctl("analyze", "spam", "nobody").status == 1)
    #expect(try daemon.ctl("tasks").output == "no task is running\n")
    #expect(try daemon.ctl("status").output.contains("longest slice"))
    #expect(daemon.log.contains("task spam-"))
    #expect(try daemon.ctl("cancel", "spam-9").status == 1)
    #expect(daemon.stop() == 0)
  }

  @Test func `a task is cancelled when its client disconnects`() throws {
    let daemon = try RunningDaemon()
    let name = try #require(try recordMain(daemon)["recording"] as? String)

    // At this speed, the replay would take hours.
    let client = Process()
    client.executableURL = RunningDaemon.binaries.appendingPathComponent("livehostctl")
    client.arguments = [
      "--socket", daemon.controlSocket, "replay", name, "--room", "again", "--speed", "0.01",
    ]
    client.standardOutput = FileHandle.nullDevice
    client.standardError = FileHandle.nullDevice
    try client.run()
    defer { client.terminate() }
    func taskCount() throws -> Int {
      let tasks = try daemon.ctl("tasks", "--json=short")
      try #require(tasks.status == 0, "\(tasks.diagnostics)")
      let list = try JSONSerialization.jsonObject(with: Data(tasks.output.utf8))
      return try #require(list as? [Any]).count
    }
    while try taskCount() == 0 { try #require(client.isRunning) }
    kill(client.processIdentifier, SIGKILL)
    client.waitUntilExit()
    var looks = 0
    while try taskCount() > 0, looks < 200 { looks += 1 }
    #expect(try taskCount() == 0)
    #expect(try daemon.ctl("show", "again").status == 0, "the room stays open")
    #expect(daemon.stop() == 0)
    #expect(daemon.log.contains("cancelled"))
  }

  @Test func `a recording contains every acknowledged event after a kill of the daemon`() throws {
    let first = try RunningDaemon()
    #expect(try first.ctl("open", "main").status == 0)
    #expect(try first.ctl("record", "start", "main").status == 0)
    let ingest = try first.ctl(
      "ingest", RecordingTests.recording, "--speed", "max", "--room", "main")
    #expect(ingest.status == 0, "\(ingest.diagnostics)")
    first.kill()
    let state = first.directory.appendingPathComponent("state").path
    let second = try RunningDaemon(arguments: ["--state-dir", state])
    let recording = try #require(try list(second).first)
    #expect(recording["events"] as? Int == 5_000)
    #expect(recording["state"] as? String == "recording", "the recording continues")
    #expect(recording["segments"] as? Int == 2)
    #expect(second.stop() == 0)
  }

  @Test(
    .enabled(if: SmallDisk.isAvailable, "requires the right to mount file systems"))
  func `a full disk fails the recording and is reported, but the room remains open`() throws {
    let disk = try SmallDisk()
    let daemon = try RunningDaemon(arguments: ["--state-dir", disk.path])
    #expect(try daemon.ctl("open", "main").status == 0)
    #expect(try daemon.ctl("record", "start", "main").status == 0)
    let ingest = try daemon.ctl(
      "ingest", RecordingTests.recording, "--speed", "max", "--room", "main", "--json=short")
    // The events are acknowledged only if a snapshot of the room still fits on the disk.
    let isKept = ingest.status == 0
    let diagnostics = ingest.diagnostics
    #expect(isKept || diagnostics.contains("No space left on device"), "\(diagnostics)")
    let reply = try ingest.json()
    let result = isKept ? reply : (reply["error"] as? [String: Any])?["result"] as? [String: Any]
    #expect(result?["received"] as? Int == 5_000)
    let recording = try #require(try list(daemon).first)
    #expect(recording["state"] as? String == "failed")
    #expect((recording["reason"] as? String)?.contains("No space left on device") == true)
    let features = try #require(
      try daemon.ctl("show", "main", "--json=short").json()["features"] as? [String: Any])
    let kept = try #require(recording["events"] as? Int)
    let name = try #require(recording["recording"] as? String)
    let export = try daemon.ctl("record", "export", name)
    #expect(export.output.split(separator: "\n").count == kept)
    #expect(daemon.log.contains("recording of room main failed"))
    #expect((features["chat"] as? [String: Any])?["total"] as? Int == 4_933)
    // One second after the failure, the daemon tries to record again. The disk has space for the
    // first line.
    let state = (features["recorder"] as? [String: Any])?["state"] as? String
    let isTriedAgain = try list(daemon).count > 1
    #expect(state == "failed" || state == "recording" && isTriedAgain)
    // The outcome does not matter: the disk may have no space for the room's state.
    _ = try daemon.ctl("send", "main", #"{"type":"viewers","count":12}"#)
    let now = try daemon.ctl("show", "main", "header", "--json=short").json()
    let header = (now["features"] as? [String: Any])?["header"] as? [String: Any]
    #expect(header?["viewers"] as? Int == 12)
    #expect(daemon.stop() == 0)
  }
}
