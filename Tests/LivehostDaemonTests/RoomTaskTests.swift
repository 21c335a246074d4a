import ControlInterface
import JSON
import LiveEvents
import LivehostDaemon
import Recordings
import Synchronization
import Testing
import Varlink
import WireFormats

@Suite struct RoomTaskTests {
  /// Starts a task and returns once it is listed.
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

  /// A replay that has begun and lasts for years.
  private func endlessReplay(
    in studio: Studio, into room: RoomName
  ) async throws -> Task<TaskReply, any Error> {
    let recording = try await studio.record()
    var request = StartTaskRequest(
      kind: .replay, recording: recording.recording, room: room.description)
    request.speed = 0.001
    let task = await start(request, in: studio)
    while await studio.lane.report(room)?.counters.received ?? 0 == 0 { await Task.yield() }
    return task
  }

  private let target = RoomName("target") ?? .main

  @Test func `a replay that should begin beyond the range of time is refused`() async throws {
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

  @Test func `a replay that would begin after the end is refused and disturbs no other`()
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

  @Test func `each part of an export has the name of its task`() async throws {
    let studio = try Studio()
    let recording = try await studio.record().recording
    let names = Mutex<Set<String>>([])
    let last = try await studio.tasks.run(
      StartTaskRequest(kind: .export, recording: recording),
      reply: { reply in names.withLock { _ = $0.insert(reply.task) } }, progress: { _ in })
    #expect(names.withLock { $0 } == [last.task])
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

  @Test func `a replay ends when the client that requested it disconnects`() async throws {
    let studio = try Studio()
    let task = try await endlessReplay(in: studio, into: target)
    task.cancel()
    await #expect(throws: CancellationError.self) { _ = try await task.value }
    #expect(studio.tasks.reports.isEmpty)
    try await studio.end()
  }

  @Test func `a replay ends when its room is closed, even if its next step is far away`()
    async throws
  {
    let studio = try Studio()
    let task = try await endlessReplay(in: studio, into: target)
    #expect(await studio.directory.close(target))
    await #expect(throws: ControlError.noSuchRoom("target")) { _ = try await task.value }
    #expect(studio.tasks.reports.isEmpty)
    try await studio.end()
  }

  @Test func `closing a room ends its analysis, but not that of its recording`() async throws {
    let studio = try Studio()
    let recording = try await studio.record()
    // Nobody gets a place as long as this lasts.
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
    // A room that is not there is told at once.
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
