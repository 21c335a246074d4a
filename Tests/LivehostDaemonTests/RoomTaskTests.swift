import ControlInterface
import Foundation
import JSON
import LiveEvents
import LivehostDaemon
import Logging
import Recordings
import Rooms
import Synchronization
import Testing
import Varlink
import WireFormats

@Suite struct RoomTaskTests {
  /// Starts a task and returns once the task is listed.
  private func start(
    _ request: StartTaskRequest, in studio: Studio
  ) async -> Task<TaskReply, any Error> {
    let count = studio.tasks.reports.count
    let task = Task { [tasks = studio.tasks] in
      try await tasks.run(request, reply: { _ in }, progress: { _ in })
    }
    while studio.tasks.reports.count == count { await Task.yield() }
    return task
  }

  /// Starts a replay that lasts for years.
  private func endlessReplay(
    in studio: Studio, into room: RoomName
  ) async throws -> Task<TaskReply, any Error> {
    let recording = try await studio.record()
    var request = StartTaskRequest(
      kind: .replay, recording: recording.recording, room: room.description)
    request.speed = 0.01
    // Starts in the middle of the events. The time between the start of the recording and its first
    // event depends on this machine, and playing it would take a hundred times as long.
    request.startMs = 1_000
    let task = await start(request, in: studio)
    while await studio.lane.report(room)?.counters.received ?? 0 == 0 { await Task.yield() }
    return task
  }

  private let target = RoomName("target") ?? .main

  @Test func `a replay that starts at a time out of range is refused`() async throws {
    let studio = try Studio()
    let recording = try await studio.record().recording
    for start in [-1, Int.max / 1_000, .max] {
      var request = StartTaskRequest(kind: .replay, recording: recording, room: "target")
      request.startMs = start
      await #expect(throws: ServiceError.invalidParameter("startMs")) {
        _ = try await studio.tasks.run(request, reply: { _ in }, progress: { _ in })
      }
    }
    try await studio.end()
  }

  @Test
  func
    `a replay that starts after the end of its recording is refused and disturbs no other replay`()
    async throws
  {
    let studio = try Studio()
    let task = try await endlessReplay(in: studio, into: target)
    let recording = try #require(studio.tasks.reports.first).subject
    var request = StartTaskRequest(kind: .replay, recording: recording, room: target.description)
    request.startMs = 1_000_000_000
    await #expect(throws: ServiceError.invalidParameter("startMs")) {
      _ = try await studio.tasks.run(request, reply: { _ in }, progress: { _ in })
    }
    request.startMs = nil
    await #expect(throws: ControlError.busy) {
      _ = try await studio.tasks.run(request, reply: { _ in }, progress: { _ in })
    }
    task.cancel()
    _ = await task.result
    try await studio.end()
  }

  @Test func `each part of an export contains the name of its task`() async throws {
    let studio = try Studio()
    let recording = try await studio.record().recording
    let names = Mutex<Set<String>>([])
    let last = try await studio.tasks.run(
      StartTaskRequest(kind: .export, recording: recording),
      reply: { reply in names.withLock { _ = $0.insert(reply.task) } }, progress: { _ in })
    #expect(names.withLock { $0 } == [last.task])
    try await studio.end()
  }

  @Test func `verification reports whether a recording is undamaged, and marks it if not`()
    async throws
  {
    let studio = try Studio()
    let recording = try await studio.record(50).recording
    func verify(_ recording: String?, room: RoomName?) async throws -> [RecordingCheckReport] {
      let checks = Mutex<[RecordingCheckReport]>([])
      try await studio.tasks.verify(recording, room: room) { reply in
        #expect((0...100).contains(reply.percent))
        checks.withLock { $0 += [reply.checked].compactMap(\.self) }
      }
      return checks.withLock { $0 }
    }
    let listed = try #require(try await studio.recordings.list(nil).recordings.first)
    let whole = try #require(try await verify(recording, room: nil).first)
    #expect(whole.recording == recording && whole.room == "main" && whole.damage == nil)
    #expect(whole.bytes == listed.bytes && whole.records > listed.events)
    let file = URL(
      fileURLWithPath: try await studio.library.files(of: recording).segments[0].path)
    var bytes = try Data(contentsOf: file)
    // Changes a byte within a line, because line ends determine the number of lines.
    let middle = try #require(bytes[(bytes.count / 2)...].firstIndex(of: UInt8(ascii: "e")))
    bytes[middle] ^= 1
    try bytes.write(to: file)
    #expect(try await verify(nil, room: target) == [])
    let rotten = try #require(try await verify(nil, room: .main).first)
    #expect(rotten.lines == whole.lines && (1..<whole.records).contains(rotten.records))
    let after = try #require(try await studio.recordings.list(nil).recordings.first)
    #expect(after.state == .damaged && after.reason == rotten.damage)
    // The disk returns the original bytes again.
    bytes[middle] ^= 1
    try bytes.write(to: file)
    #expect(try #require(try await verify(recording, room: nil).first) == whole)
    #expect(try await studio.recordings.list(nil).recordings == [listed])
    await #expect(throws: ControlError.noSuchRecording("none")) {
      _ = try await verify("none", room: nil)
    }
    try await studio.end()
  }

  @Test func `verification reports missing and unreadable files`() async throws {
    let studio = try Studio()
    var paths: [String] = []
    for _ in 1...3 {
      let name = try await studio.record(50).recording
      paths.append(try await studio.library.files(of: name).segments[0].path)
    }
    let files = FileManager.default
    try files.removeItem(atPath: paths[0])
    try files.removeItem(atPath: String(paths[1].dropLast("/000001.ndjson".count)))
    try files.removeItem(atPath: paths[2])
    try files.createDirectory(atPath: paths[2], withIntermediateDirectories: false)
    let checks = Mutex<[RecordingCheckReport]>([])
    try await studio.tasks.verify(nil, room: nil) { reply in
      checks.withLock { $0 += [reply.checked].compactMap(\.self) }
    }
    let damage = checks.withLock { $0.map { $0.damage ?? "" } }
    #expect(damage.prefix(2) == ["segment 1 is missing", "segment 1 is missing"])
    #expect(damage.last == "cannot open \(paths[2]): Invalid argument")
    #expect(
      try await studio.recordings.list(nil).recordings.map(\.state)
        == [.damaged, .damaged, .finished])
    try await studio.end()
  }

  @Test func `a task on an unreadable recording ends with the reason`() async throws {
    let studio = try Studio()
    let recording = try await studio.record(50).recording
    let path = try await studio.library.files(of: recording).segments[0].path
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    for kind in [TaskKind.export, .replay, .highlights, .spam, .chatters] {
      let request = StartTaskRequest(kind: kind, recording: recording, room: target.description)
      await #expect(
        throws: ControlError.recordingFailed(
          room: "", reason: "cannot open \(path): Invalid argument")
      ) { _ = try await studio.tasks.run(request, reply: { _ in }, progress: { _ in }) }
    }
    try await studio.end()
  }

  @Test(.timeLimit(.minutes(1)))
  func
    `recordings are checked again after the configured days, slowly, and damage is reported once`()
    async throws
  {
    let log = Mutex<[String]>([])
    let studio = try Studio(
      logger: Logger(noting: { entry in
        if entry.level >= .warning { log.withLock { $0.append("\(entry.message)") } }
      }))
    let recording = try await studio.record(20_000).recording
    let start = try #require(try await studio.recordings.list(nil).recordings.first).startedAt
    let bytes = try await studio.library.files(of: recording).bytes
    struct Time {
      var now: Int
      var slept = Duration.zero
      var pauses = 0
    }
    let time = Mutex(Time(now: start))
    let metrics = DaemonMetrics()
    let scrub = RecordingScrub(
      studio.recordings, slots: studio.slots, days: 7, metrics: metrics,
      now: { time.withLock { $0.now } }
    ) { duration in
      let isOver = time.withLock { time in
        if duration >= .seconds(3_600) {
          time.now += 86_400_000
          time.pauses += 1
        } else {
          time.slept += duration
        }
        return time.pauses == 10
      }
      if isOver { throw CancellationError() }
    }
    await #expect(throws: CancellationError.self) { try await scrub.run() }
    // The check runs on the eighth day, but not again on the ninth and tenth.
    let budget = Duration.seconds(Double(bytes) / Double(RecordingScrub.bytesPerSecond))
    #expect(
      time.withLock { $0.slept } >= budget * 0.999 && time.withLock { $0.slept } < budget * 1.001)
    #expect(log.withLock { $0 }.isEmpty)

    let file = URL(
      fileURLWithPath: try await studio.library.files(of: recording).segments[0].path)
    var contents = try Data(contentsOf: file)
    contents[contents.count / 2] ^= 1
    try contents.write(to: file)
    for _ in 0..<2 {
      time.withLock { $0.pauses = 0 }
      await #expect(throws: CancellationError.self) { try await scrub.run() }
    }
    let after = try #require(try await studio.recordings.list(nil).recordings.first)
    #expect(after.state == .damaged)
    #expect(log.withLock { $0 } == ["recording \(recording) is damaged: \(after.reason ?? "")"])
    try await studio.end()
  }

  @Test func `a replay can be cancelled, and its room remains open`() async throws {
    let studio = try Studio()
    let task = try await endlessReplay(in: studio, into: target)
    let name = try #require(studio.tasks.reports.first).task
    try studio.tasks.cancel(name)
    await #expect(throws: ControlError.taskCancelled(name)) { _ = try await task.value }
    #expect(studio.tasks.reports.isEmpty)
    #expect(
      await studio.send(
        [LiveEvent(timestamp: 0, payload: .chat(.clear))], to: target, clock: .arrival)
        == 0)
    try await studio.end()
  }

  @Test func `a recording that is being played cannot be deleted`() async throws {
    let studio = try Studio()
    let control = studio.control
    let task = try await endlessReplay(in: studio, into: target)
    let name = try #require(studio.tasks.reports.first).subject
    await #expect(throws: ControlError.recordingInUse(name)) {
      _ = try await control.deleteRecording(name)
    }
    task.cancel()
    _ = await task.result
    #expect(try await control.deleteRecording(name).recording == name)
    await #expect(throws: ControlError.noSuchRecording(name)) {
      _ = try await control.deleteRecording(name)
    }
    try await studio.end()
  }

  @Test func `a replay ends when the client that requested it disconnects`() async throws {
    let studio = try Studio()
    let task = try await endlessReplay(in: studio, into: target)
    task.cancel()
    await #expect(throws: CancellationError.self) { _ = try await task.value }
    #expect(studio.tasks.reports.isEmpty)
    try await studio.end()
  }

  @Test func `a replay ends when its room is closed, even if its next step is due much later`()
    async throws
  {
    let studio = try Studio()
    let task = try await endlessReplay(in: studio, into: target)
    #expect(await studio.directory.close(target))
    await #expect(throws: ControlError.noSuchRoom("target")) { _ = try await task.value }
    #expect(studio.tasks.reports.isEmpty)
    try await studio.end()
  }

  @Test func `closing a room ends the analysis of the room, but not the analysis of its recording`()
    async throws
  {
    let studio = try Studio()
    let recording = try await studio.record()
    // All slots are taken meanwhile.
    let (hold, release) = AsyncStream.makeStream(of: Void.self)
    let (entered, note) = AsyncStream.makeStream(of: Void.self)
    let holder = Task { [slots = studio.slots] in
      try await slots.run {
        note.finish()
        for await _ in hold {}
      }
    }
    for await _ in entered {}
    let ofRoom = await start(StartTaskRequest(kind: .spam, room: "main"), in: studio)
    let ofRecording = await start(
      StartTaskRequest(kind: .spam, recording: recording.recording), in: studio)
    while studio.slots.waitingCount < 2 { await Task.yield() }
    #expect(await studio.directory.close(.main))
    await #expect(throws: ControlError.noSuchRoom("main")) { _ = try await ofRoom.value }
    release.finish()
    _ = try await holder.value
    #expect(try await ofRecording.value.result?["messages"] != nil)
    // A room that does not exist is reported immediately.
    await #expect(throws: ControlError.noSuchRoom("main")) {
      _ = try await studio.tasks.run(
        StartTaskRequest(kind: .spam, room: "main"), reply: { _ in }, progress: { _ in })
    }
    try await studio.end()
  }

  @Test func `tasks on one recording do not disturb each other`() async throws {
    let studio = try Studio()
    let recording = try await studio.record(3_000)
    let name = recording.recording
    let tasks = [TaskKind.chatters, .chatters, .export, .replay].map { kind in
      Task { [tasks = studio.tasks] in try await outcome(of: kind, name, tasks) }
    }
    let (left, right) = (try await tasks[0].value, try await tasks[1].value)
    let (exported, replayed) = (try await tasks[2].value, try await tasks[3].value)
    let alone = try await outcome(of: .chatters, name, studio.tasks)
    #expect(left == alone)
    #expect(right == alone)
    #expect(exported.result?["events"]?.integerValue == Int64(recording.events))
    #expect(exported.bytes > 50 * recording.events)
    #expect(replayed.result?["digest"]?.stringValue == recording.digest)
    #expect(studio.tasks.reports.isEmpty)
    try await studio.end()
  }

  private struct Outcome: Equatable, Sendable {
    var result: JSONValue?
    var bytes: Int
  }

  private func outcome(
    of kind: TaskKind, _ recording: String, _ tasks: RoomTasks
  ) async throws -> Outcome {
    let bytes = Mutex(0)
    var request = StartTaskRequest(kind: kind, recording: recording)
    if kind == .replay { request.room = "target" }
    let reply = try await tasks.run(
      request, reply: { reply in bytes.withLock { $0 += reply.text?.utf8.count ?? 0 } },
      progress: { _ in })
    return Outcome(result: reply.result, bytes: bytes.withLock { $0 })
  }
}
