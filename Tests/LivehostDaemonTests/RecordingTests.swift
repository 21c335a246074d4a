import ControlInterface
import FileSystem
import Foundation
import JSON
import LiveEvents
import RateLimiting
import Recordings
import Rooms
import SimulatedDisk
import Synchronization
import TestSupport
import Testing
import Throttling
import WireFormats

@Suite struct RoomRecordingTests {
  @Test(
    arguments: [FrameClock.event, .arrival])
  func `a replay at any speed produces the state of the live run`(clock: FrameClock) async throws {
    let studio = try Studio()
    _ = try studio.directory.open(.main)
    _ = try await studio.recordings.start(.main, on: studio.lane)
    let events = traffic(3_000)
    for start in stride(from: 0, to: events.count, by: 150) {
      _ = await studio.send(Array(events[start..<start + 150]), to: .main, clock: clock)
    }
    let live = try #require(await studio.lane.report(.main))
    let recording = try await studio.recordings.stop(.main, on: studio.lane)
    let digest = try #require(recording.digest)
    #expect(recording.events == live.counters.received - live.counters.rejected)
    #expect(recording.state == .finished)
    for (index, speed) in [nil, 0.5, 1, 16, 1_000].enumerated() {
      let room = try #require(RoomName("replay\(index)"))
      let result = try await studio.replay(recording.recording, into: room, speed: speed)
      #expect(result.digest == digest, "at \(speed.map { "\($0)" } ?? "full speed")")
      #expect(result.events == recording.events)
      #expect(result.frames == recording.frames)
      let report = try #require(await studio.lane.report(room))
      #expect(report.features.chat?.untimed == live.features.chat?.untimed)
      #expect(report.features.control == live.features.control)
      #expect(report.counters.rejected == 0)
    }
    try await studio.end()
  }

  @Test func `settings, their reloads, and changes of controls are recorded`() async throws {
    var settings = RoomSettings()
    settings.chatHistory = 7
    try settings.throttling.set(.statistics, policy(.statistics, milliseconds: 50))
    try settings.throttling.set(.viewers, policy(.viewers, milliseconds: 3_000))
    let studio = try Studio(settings: settings)
    _ = try studio.directory.open(.main)
    _ = try await studio.recordings.start(.main, on: studio.lane)
    let events = traffic(2_000)
    _ = await studio.send(Array(events[..<700]), to: .main, clock: .event)
    _ = await studio.lane.act(.control(.set(control: "zoom", value: 0.125)), in: .main)
    _ = await studio.send(Array(events[700..<900]), to: .main, clock: .event)
    var reloaded = settings
    try reloaded.throttling.set(.viewers, policy(.viewers, milliseconds: 30_000))
    try reloaded.throttling.set(.statistics, policy(.statistics, milliseconds: 20_000))
    studio.lane.postSettings(reloaded)
    _ = await studio.lane.act(.control(.tap(control: "mute", on: true)), in: .main)
    _ = await studio.send(Array(events[900...]), to: .main, clock: .event)
    let live = try #require(await studio.lane.report(.main))
    let recording = try await studio.recordings.stop(.main, on: studio.lane)
    let digest = try #require(recording.digest)

    // Replays in a room with a different configuration.
    let other = try Studio(path: studio.path)
    for (index, speed) in ([nil, 1, 100] as [Double?]).enumerated() {
      let room = try #require(RoomName("again\(index)"))
      let result = try await other.replay(recording.recording, into: room, speed: speed)
      #expect(result.digest == digest)
      let report = try #require(await other.lane.report(room))
      #expect(report.features.chat?.untimed == live.features.chat?.untimed)
      #expect(report.features.chat?.messages.count == 7)
      #expect(report.features.control == live.features.control)
      #expect(report.features.liveRoomStats == live.features.liveRoomStats)
      #expect(report.features.header == live.features.header)
    }
    // A reload during the replay does not affect a room into which a recording is played.
    let busy = try #require(RoomName("busy"))
    let lane = other.lane
    let result = try await other.replay(recording.recording, into: busy, speed: 1) {
      lane.postSettings(RoomSettings())
    }
    #expect(result.digest == digest)
    try await other.end()
    try await studio.end()
  }

  private func policy(_ kind: ThrottledKind, milliseconds: Int64) -> PolicyDescription {
    PolicyDescription(kind.limitClass, interval: .milliseconds(milliseconds))
  }

  @Test func `polls replay to the same state, and refused poll events are not recorded`()
    async throws
  {
    let polls: [PollEvent] = [
      .begin(
        PollQuestion(
          id: "p1", title: "\"Which\" map?", options: ["old", "new"], endsAt: 1_700_000_060_000)),
      .votes(pollID: "p1", totals: [1, 0]), .votes(pollID: "p1", totals: [2, 0]),
      .votes(pollID: "other", totals: [9, 9]), .votes(pollID: "p1", totals: [2, 5]),
      .votes(pollID: "p1", totals: [2, 5, 1]), .end(pollID: "p1", winner: 2),
      .end(pollID: "p1", winner: 1), .votes(pollID: "p1", totals: [9, 9]),
      .begin(PollQuestion(id: "p2", title: "", options: ["a", "b", "c"])),
      .votes(pollID: "p2", totals: [1, 2, 3]), .votes(pollID: "p2", totals: [4, 5, 6]),
    ]
    let events = polls.enumerated().map { index, poll in
      LiveEvent(timestamp: 1_700_000_000_000 + Timestamp(index * 20), payload: .poll(poll))
    }
    for count in [7, 9, polls.count] {
      let studio = try Studio()
      _ = try studio.directory.open(.main)
      _ = try await studio.recordings.start(.main, on: studio.lane)
      let rejected = await studio.send(Array(events[..<count]), to: .main, clock: .event)
      #expect(rejected == (count == 7 ? 3 : 4))
      let live = try #require(await studio.lane.report(.main))
      let recording = try await studio.recordings.stop(.main, on: studio.lane)
      #expect(recording.events == count - rejected)
      let again = try #require(RoomName("again"))
      let result = try await studio.replay(recording.recording, into: again)
      #expect(result.digest == recording.digest)
      let report = try #require(await studio.lane.report(again))
      #expect(report.counters.rejected == 0)
      #expect(report.features.poll == live.features.poll)
      if count == 9 {
        let expected: JSONValue = [
          "id": "p1", "title": "\"Which\" map?", "state": "ended", "winner": 1,
          "endsAt": 1_700_000_060_000,
          "options": [["title": "old", "votes": 2], ["title": "new", "votes": 5]],
        ]
        #expect(try JSONValue(encoding: report.features.poll) == expected)
      }
      if count == polls.count {
        #expect(report.features.poll?.options.map(\.votes) == [4, 5, 6])
        #expect(report.features.poll?.state == .open)
      }
      try await studio.end()
    }
  }

  @Test func `a recording of a room that was used before has no final digest`() async throws {
    let studio = try Studio()
    _ = try studio.directory.open(.main)
    _ = await studio.lane.act(.control(.set(control: "zoom", value: 0.125)), in: .main)
    _ = try await studio.recordings.start(.main, on: studio.lane)
    _ = await studio.lane.act(.control(.set(control: "zoom", value: 0.25)), in: .main)
    let recording = try await studio.recordings.stop(.main, on: studio.lane)
    #expect(recording.digest == nil)
    // Replayed acts count as acts of the host.
    let again = try #require(RoomName("again"))
    _ = try await studio.replay(recording.recording, into: again)
    _ = try await studio.recordings.start(again, on: studio.lane)
    #expect(try await studio.recordings.stop(again, on: studio.lane).digest == nil)
    try await studio.end()
  }

  @Test func `a snapshot saves events that the log cannot store, and their recording fails`()
    async throws
  {
    var recording = RecordingSettings()
    recording.maximumWaiting = 100
    let studio = try Studio(recording: recording)
    _ = try studio.directory.open(.main)
    let started = try await studio.recordings.start(.main, on: studio.lane)
    let first = await studio.sendRecorded(Array(traffic(40)), to: .main)
    #expect(first.failure == nil)
    let second = await studio.sendRecorded(traffic(400, seed: 2), to: .main)
    #expect(second.failure == nil)
    let before = try #require(await studio.lane.report(.main)?.counters.applied)
    #expect(before > 200)
    while await studio.lane.report(.main)?.features.recorder?.state != .failed {}
    // The room no longer records, so the recording lacks none of the later events.
    let third = await studio.sendRecorded(traffic(40, seed: 3), to: .main)
    #expect(third.failure == nil)
    let listed = try #require(try await studio.recordings.list(.main).recordings.first)
    #expect(listed.recording == started.recording)
    #expect(listed.state == .failed)
    #expect(listed.reason?.contains("keep up") == true)
    #expect((1...40).contains(listed.events))
    // Another recording can start after the failed recording is closed.
    _ = try? await studio.recordings.start(.main, on: studio.lane)
    while await studio.lane.report(.main)?.features.recorder?.state != .recording {}
    _ = try await studio.recordings.stop(.main, on: studio.lane)
    try await studio.end()
  }

  @Test(.timeLimit(.minutes(1)))
  func `a replay into a recorded room waits for the disk instead of failing the recording`()
    async throws
  {
    let disk = SimulatedDisk()
    var settings = RecordingSettings(on: disk)
    settings.highWater = 100
    settings.maximumWaiting = 2_000
    // The recording is made without these limits, which only the replay has.
    let source = try Studio()
    let recording = try await source.record(6_000)
    let studio = try Studio(recording: settings)
    let again = try #require(RoomName("again"))
    _ = try studio.directory.open(again)
    _ = try await studio.recordings.start(again, on: studio.lane)
    let replay = Replay(
      try await source.library.files(of: recording.recording), into: again, on: studio.lane,
      speed: nil)
    disk.decide { $0.operation == .sync ? .never : nil }
    let replaying = Task { try await replay.run() }
    await disk.hasCaught()
    // The lane answers, so it has applied its events. More events would fail the recording.
    for _ in 0..<200 { _ = await studio.lane.report(again) }
    #expect(await studio.lane.report(again)?.features.recorder?.state == .recording)
    disk.decide { _ in nil }
    disk.release()
    #expect(try await replaying.value.events == recording.events)
    #expect(try await studio.recordings.stop(again, on: studio.lane).events == recording.events)
    try await source.end()
    try await studio.end()
  }

  @Test func `the progress of a replay advances within a block`() async throws {
    let studio = try Studio()
    let recording = try await studio.record(60)
    let told = Mutex<[Int]>([])
    _ = try await studio.replay(
      recording.recording, into: try #require(RoomName("again")), speed: 1,
      progress: { bytes in told.withLock { $0.append(bytes) } })
    let values = told.withLock { $0 }
    #expect(Set(values).count > 10)
    #expect(values == values.sorted())
    #expect(values.last == recording.bytes)
    try await studio.end()
  }

  @Test func `a replay produces the same state under a different limit of chat messages`()
    async throws
  {
    let studio = try Studio()
    _ = try studio.directory.open(.main)
    var settings = RoomSettings()
    settings.chatHistory = 20
    studio.directory.apply(settings)
    _ = try await studio.recordings.start(.main, on: studio.lane)
    _ = await studio.send(traffic(600), to: .main, clock: .event)
    let recording = try await studio.recordings.stop(.main, on: studio.lane)
    let replay = try await studio.replay(recording.recording, into: try #require(RoomName("again")))
    #expect(replay.digest == recording.digest)
    try await studio.end()
  }

  @Test func `a foreign recording with impossible times and settings does no harm`()
    async throws
  {
    let studio = try Studio()
    let directory = studio.path + "/main-forged"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let lines = [
      #"{"type":"recording","version":1,"name":"main-forged","room":"main","segment":1,"startedAt":1}"#,
      #"{"type":"change","at":0,"change":{"settings":{"chatHistory":1000000000000,"throttling":{"chat":{"interval":9000000000000000000,"maximumStaleness":9000000000000000000,"capacity":1}}}}}"#,
      #"{"type":"viewers","ts":1,"count":3,"at":10}"#,
      #"{"type":"chat.message","ts":1,"id":"1","user":{"id":"u","name":"U"},"text":"t","at":10}"#,
      #"{"type":"frame","at":5000000000000000000}"#,
      #"{"type":"viewers","ts":1,"count":4,"at":5700000000000000000}"#,
      #"{"type":"frame","at":5700000000000000000,"flush":true}"#,
    ]
    try (lines.joined(separator: "\n") + "\n")
      .write(toFile: directory + "/000001.ndjson", atomically: true, encoding: .utf8)
    let room = try #require(RoomName("again"))
    _ = try studio.directory.open(room)
    for _ in 0..<2 {
      // The second replay adds these times to those of the first.
      let replay = Replay(
        try await studio.library.files(of: "main-forged"), into: room, on: studio.lane, speed: nil)
      #expect(try await replay.run().events == 3)
    }
    let report = try #require(await studio.lane.report(room))
    #expect(report.features.header?.viewers == 4)
    #expect(report.features.chat?.total == 2)
    try await studio.end()
  }

  @Test func `a replay from the middle plays the later events`() async throws {
    let studio = try Studio()
    _ = try studio.directory.open(.main)
    _ = try await studio.recordings.start(.main, on: studio.lane)
    _ = await studio.send(traffic(1_000), to: .main, clock: .event)
    let recording = try await studio.recordings.stop(.main, on: studio.lane)
    let room = try #require(RoomName("later"))
    let result = try await studio.replay(
      recording.recording, into: room, start: Int64(recording.durationMs) * 500_000)
    #expect((400...600).contains(result.events))
    try await studio.end()
  }

  @Test func `a room shows the state of its recorder, and invalid calls are refused`()
    async throws
  {
    let studio = try Studio()
    await #expect(throws: ControlError.noSuchRoom("main")) {
      _ = try await studio.recordings.start(.main, on: studio.lane)
    }
    _ = try studio.directory.open(.main)
    await #expect(throws: ControlError.notRecording("main")) {
      _ = try await studio.recordings.stop(.main, on: studio.lane)
    }
    let started = try await studio.recordings.start(.main, on: studio.lane)
    #expect(await studio.lane.report(.main)?.features.recorder?.state == .recording)
    await #expect(throws: ControlError.alreadyRecording("main")) {
      _ = try await studio.recordings.start(.main, on: studio.lane)
    }
    #expect(
      try await studio.recordings.list(.main).recordings.map(\.recording) == [started.recording])
    #expect(try await studio.recordings.list(RoomName("other")).recordings.isEmpty)
    _ = try await studio.recordings.stop(.main, on: studio.lane)
    #expect(await studio.lane.report(.main)?.features.recorder?.state == .idle)
    try await studio.end()
  }

  @Test func `closing a room during a recording leaves a finished recording`() async throws {
    let studio = try Studio()
    _ = try studio.directory.open(.main)
    let started = try await studio.recordings.start(.main, on: studio.lane)
    _ = await studio.send(traffic(100), to: .main, clock: .event)
    #expect(await studio.directory.close(.main))
    // Another recording can start after the first recording is closed.
    _ = try studio.directory.open(.main)
    var list = try await studio.recordings.list(nil).recordings
    while list.first?.state == .recording {
      list = try await studio.recordings.list(nil).recordings
    }
    #expect(list.first?.recording == started.recording)
    #expect(list.first?.state == .finished)
    #expect((list.first?.events ?? 0) > 80)
    try await studio.end()
  }

  @Test func `if the recording cannot start, the call reports the reason and the room stays open`()
    async throws
  {
    let studio = try Studio(path: "/proc/livehost")
    _ = try studio.directory.open(.main)
    let error = await #expect(throws: ControlError.self) {
      _ = try await studio.recordings.start(.main, on: studio.lane)
    }
    guard case .recordingFailed("main", let reason) = error else {
      Issue.record("threw \(String(describing: error))")
      return
    }
    #expect(reason.contains("/proc/livehost"))
    #expect(await studio.send(traffic(10), to: .main, clock: .event) == 0)
    #expect(await studio.lane.report(.main)?.features.recorder?.state == .failed)
    try await studio.end()
  }
}

extension RecordingSettings {
  /// Recordings on a simulated disk, with the catalogue in memory.
  init(on disk: SimulatedDisk) {
    self.init()
    self.disk = disk
    cataloguePath = ":memory:"
  }
}
