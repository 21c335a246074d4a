import ControlInterface
import FileSystem
import Foundation
import Glibc
import HostScreen
import Ingest
import LiveEvents
import LivehostDaemon
import Recordings
import Rooms
import SimulatedDisk
import TestSupport
import Testing
import WireFormats

/// The recorder of a room: attempts, pauses, and what remains of both after a kill.
@Suite(.timeLimit(.minutes(1))) struct RecorderTests {
  private let home = TemporaryDirectory()

  private let again = RoomName("again")!

  private func own(_ lane: HostLane, _ room: RoomName = .main) async -> SingleRecorderReport? {
    await lane.report(room)?.features.recorder?.own
  }

  private func wait(
    _ lane: HostLane, for state: RecorderState
  ) async throws -> SingleRecorderReport {
    while true {
      if let own = await own(lane), own.state == state { return own }
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  private func effects(_ lane: HostLane, _ room: RoomName) async -> Int? {
    await lane.metrics().first { $0.room == room.description }?.effects
  }

  /// Makes the recordings of `main` unwritable, but not the log.
  private func failsWrites(_ call: DiskCall) -> DiskFault? {
    call.operation == .write && call.path.contains("/main-") ? .error(EIO) : nil
  }

  // MARK: Attempts

  @Test func `after a failed recording, another one starts as soon as the disk works`()
    async throws
  {
    let disk = SimulatedDisk()
    let studio = try Studio(recording: RecordingSettings(on: disk))
    _ = try studio.directory.open(.main)
    let first = try await studio.recordings.start(.main, on: studio.lane).recording
    disk.decide { failsWrites($0) }
    #expect(await studio.sendRecorded(traffic(10), to: .main).failure == nil)
    let failed = try await wait(studio.lane, for: .failed)
    #expect(failed.failure?.contains("Input/output error") == true)
    #expect((1...2).contains(failed.retrySeconds ?? 0))
    let problem = try #require(studio.recordings.problems.first)
    #expect(problem.text.contains("Input/output error; trying again after "))
    disk.decide { _ in nil }
    let recording = try await wait(studio.lane, for: .recording)
    let second = try #require(recording.recording)
    #expect(second != first && recording.failure == nil && recording.retrySeconds == nil)
    #expect(studio.recordings.problems.isEmpty)
    await #expect(throws: ControlError.alreadyRecording("main")) {
      _ = try await studio.recordings.start(.main, on: studio.lane)
    }
    let stopped = try await studio.recordings.stop(.main, on: studio.lane)
    #expect(stopped.recording == second && stopped.state == .finished)
    let listed = try await studio.recordings.list(.main).recordings
    #expect(listed.map(\.state) == [.failed, .finished])
    try await studio.end()
  }

  @Test func `a stop ends the attempts and reports the failed recording`() async throws {
    let disk = SimulatedDisk()
    let studio = try Studio(recording: RecordingSettings(on: disk))
    _ = try studio.directory.open(.main)
    let first = try await studio.recordings.start(.main, on: studio.lane).recording
    disk.decide { failsWrites($0) }
    _ = await studio.sendRecorded(traffic(10), to: .main)
    _ = try await wait(studio.lane, for: .failed)
    let stopped = try await studio.recordings.stop(.main, on: studio.lane)
    #expect(stopped.recording == first && stopped.state == .failed)
    #expect(await own(studio.lane)?.state == .idle)
    #expect(studio.recordings.problems.isEmpty)
    await #expect(throws: ControlError.notRecording("main")) {
      _ = try await studio.recordings.stop(.main, on: studio.lane)
    }
    try await studio.end()
  }

  @Test
  func `a failed start is reported, and only a request with retries schedules another attempt`()
    async throws
  {
    let disk = SimulatedDisk()
    let studio = try Studio(recording: RecordingSettings(on: disk))
    _ = try studio.directory.open(.main)
    disk.decide {
      $0.path.contains("/main-") && $0.path.hasSuffix(".ndjson") ? .error(ENOSPC) : nil
    }
    for retries in [false, true] {
      let error = await #expect(throws: ControlError.self) {
        _ = try await studio.recordings.start(.main, on: studio.lane, retries: retries)
      }
      guard case .recordingFailed("main", let reason) = error else {
        Issue.record("threw \(String(describing: error))")
        return
      }
      #expect(reason.contains("No space left on device"))
      let failed = try await wait(studio.lane, for: .failed)
      #expect((failed.retrySeconds != nil) == retries)
    }
    // An attempt leaves nothing that the next start could mistake for a recording.
    #expect(try await studio.recordings.list(nil).recordings.isEmpty)
    #expect(try disk.names(in: studio.path).filter { $0.hasPrefix("main") } == [])
    disk.decide { _ in nil }
    _ = try await wait(studio.lane, for: .recording)
    _ = try await studio.recordings.stop(.main, on: studio.lane)
    try await studio.end()
  }

  @Test func `a stop does not wait for a disk that delays the start of a recording`()
    async throws
  {
    let disk = SimulatedDisk()
    let studio = try Studio(recording: RecordingSettings(on: disk))
    _ = try studio.directory.open(.main)
    disk.decide { $0.operation == .create && $0.path.contains("/main-") ? .never : nil }
    let (lane, recordings) = (studio.lane, studio.recordings)
    let starting = Task { try await recordings.start(.main, on: lane) }
    await disk.hasCaught()
    #expect(await own(studio.lane)?.state == .starting)
    await #expect(throws: ControlError.notRecording("main")) {
      _ = try await studio.recordings.stop(.main, on: studio.lane)
    }
    await #expect(throws: ControlError.self) { _ = try await starting.value }
    #expect(await own(studio.lane)?.state == .idle)
    disk.decide { _ in nil }
    disk.release()
    // The next recording starts after the first attempt, which leaves nothing.
    let next = try await studio.recordings.start(.main, on: studio.lane).recording
    #expect(try await studio.recordings.stop(.main, on: studio.lane).recording == next)
    #expect(try await studio.recordings.list(nil).recordings.map(\.recording) == [next])
    try await studio.end()
  }

  @Test func `a recording started for a closed room does not become a recording of its successor`()
    async throws
  {
    let disk = SimulatedDisk()
    let studio = try Studio(recording: RecordingSettings(on: disk))
    _ = try studio.directory.open(.main)
    disk.decide { $0.operation == .create && $0.path.contains("/main-") ? .never : nil }
    let (lane, recordings) = (studio.lane, studio.recordings)
    let first = Task { try await recordings.start(.main, on: lane) }
    await disk.hasCaught()
    // The log waits for the disk too.
    lane.postClosing(of: .main) { _ in }
    lane.postOpening(of: .main)
    await #expect(throws: ControlError.noSuchRoom("main")) { _ = try await first.value }
    let second = Task { try await recordings.start(.main, on: lane) }
    while await own(studio.lane)?.state != .starting {
      try Task.checkCancellation()
      await Task.yield()
    }
    disk.decide { _ in nil }
    disk.release()
    let recording = try await second.value.recording
    #expect(await studio.sendRecorded(traffic(10), to: .main).failure == nil)
    let stopped = try await recordings.stop(.main, on: lane)
    #expect(stopped.recording == recording && stopped.events == 10)
    #expect(try await recordings.list(nil).recordings.map(\.recording) == [recording])
    try await studio.end()
  }

  // MARK: Pauses

  @Test func `a pause is not recorded, and the same recording continues afterwards`() async throws {
    let studio = try Studio()
    _ = try studio.directory.open(.main)
    let recordings = studio.recordings
    await #expect(throws: ControlError.notRecording("main")) {
      _ = try await recordings.pause(.main, on: studio.lane)
    }
    let name = try await recordings.start(.main, on: studio.lane).recording
    let events = KeptRooms.messages(0..<90)
    _ = await studio.send(Array(events[..<30]), to: .main, clock: .event)
    await #expect(throws: ControlError.alreadyRecording("main")) {
      _ = try await recordings.resume(.main, on: studio.lane)
    }
    let paused = try await recordings.pause(.main, on: studio.lane)
    #expect(paused.recording == name && paused.state == .interrupted && paused.events == 30)
    #expect(await own(studio.lane)?.state == .paused)
    _ = await studio.send(Array(events[30..<60]), to: .main, clock: .event)
    await #expect(throws: ControlError.alreadyRecording("main")) {
      _ = try await recordings.start(.main, on: studio.lane)
    }
    // A paused recording cannot be deleted.
    await #expect(throws: ControlError.recordingInUse(name)) {
      _ = try await studio.control.deleteRecording(name)
    }
    let resumed = try await recordings.resume(.main, on: studio.lane)
    #expect(resumed.recording == name && resumed.state == .recording)
    _ = await studio.send(Array(events[60...]), to: .main, clock: .event)
    let stopped = try await recordings.stop(.main, on: studio.lane)
    #expect(stopped.recording == name && stopped.state == .finished && stopped.events == 60)
    #expect(stopped.digest == nil, "an incomplete recording has no digest")
    #expect(await studio.lane.report(.main)?.features.chat?.total == 90)

    let replay = try await studio.replay(name, into: again)
    #expect(replay.events == 60)
    let played = await studio.lane.report(again)
    #expect(played?.features.chat?.total == 60)
    #expect(played?.features.recorder?.own == nil, "the recorder of another room")
    #expect(await effects(studio.lane, again) == 0)
    try await studio.end()
  }

  @Test func `a paused recording is closed by a stop and by the closing of its room`() async throws
  {
    let studio = try Studio()
    _ = try studio.directory.open(.main)
    for isClosed in [false, true] {
      let name = try await studio.recordings.start(.main, on: studio.lane).recording
      _ = await studio.send(traffic(20), to: .main, clock: .event)
      let paused = try await studio.recordings.pause(.main, on: studio.lane)
      if isClosed {
        _ = await studio.directory.close(.main)
        while studio.recordings.activeCount > 0 { await studio.library.settle() }
      } else {
        #expect(try await studio.recordings.stop(.main, on: studio.lane).recording == name)
      }
      let listed = try await studio.recordings.list(.main).recordings.last
      #expect(listed?.recording == name && listed?.state == .finished)
      #expect(listed?.events == paused.events)
    }
    try await studio.end()
  }

  @Test func `concurrent opposite requests leave the state of the last request`() async throws {
    let studio = try Studio()
    _ = try studio.directory.open(.main)
    let (lane, recordings) = (studio.lane, studio.recordings)
    let name = try await recordings.start(.main, on: lane).recording
    for _ in 0..<20 {
      async let pause = try? recordings.pause(.main, on: lane)
      async let resume = try? recordings.resume(.main, on: lane)
      _ = await (pause, resume)
      // Determines the last request, whichever of the two was handled last.
      _ = try? await recordings.resume(.main, on: lane)
      #expect(await own(lane)?.state == .recording)
      #expect(await studio.sendRecorded(traffic(5), to: .main).failure == nil)
    }
    let stopped = try await recordings.stop(.main, on: lane)
    #expect(stopped.recording == name && stopped.events >= 20 * 4)
    for _ in 0..<20 {
      async let start = try? recordings.start(.main, on: lane)
      async let stop = try? recordings.stop(.main, on: lane)
      _ = await (start, stop)
      _ = try? await recordings.stop(.main, on: lane)
      #expect(await own(lane)?.state == .idle)
    }
    // Unneeded recordings are removed afterwards.
    while studio.recordings.activeCount > 0 { await studio.library.settle() }
    #expect(try await recordings.list(nil).recordings.allSatisfy { $0.state == .finished })
    try await studio.end()
  }

  // MARK: Kills

  @Test func `a room that is killed during a pause is restored with its recording paused`()
    async throws
  {
    let path = home.path + "/state"
    let first = try KeptRooms(in: path)
    _ = try first.directory.open(.main)
    let name = try await first.recordings.start(.main, on: first.lane).recording
    await first.send(0..<20)
    // The first kill happens before any event follows the pause.
    _ = try await first.recordings.pause(.main, on: first.lane)
    let early = try first.kill()
    await first.send(20..<40)
    let late = try first.kill(as: "-late")
    try await first.end()

    for (copy, count) in [(early, 20), (late, 40)] {
      var run = try KeptRooms(in: copy)
      await run.restore()
      #expect(await own(run.lane)?.state == .paused)
      #expect(await run.count() == count)
      await run.send(40..<60)
      let resumed = try await run.recordings.resume(.main, on: run.lane)
      #expect(resumed.recording == name && resumed.events == 20)
      await run.send(60..<80)
      let again = try run.kill()
      try await run.end()
      // Kills the daemon once more, while the room is recorded again.
      run = try KeptRooms(in: again)
      await run.restore()
      #expect(await own(run.lane)?.state == .recording)
      #expect(await run.count() == count + 40)
      await run.send(80..<90)
      let stopped = try await run.recordings.stop(.main, on: run.lane)
      #expect(stopped.recording == name && stopped.events == 50 && stopped.state == .finished)
      try await run.end()
    }
  }

  @Test func `a recording paused at a stop of the daemon continues on request`()
    async throws
  {
    let path = home.path + "/state"
    var run = try KeptRooms(in: path)
    _ = try run.directory.open(.main)
    let name = try await run.recordings.start(.main, on: run.lane).recording
    await run.send(0..<10)
    _ = try await run.recordings.pause(.main, on: run.lane)
    await run.send(10..<20)
    for number in 0..<3 {
      try await run.end()
      run = try KeptRooms(in: path)
      await run.restore()
      #expect(await own(run.lane)?.state == .paused)
      #expect(await run.count() == 20 + 10 * number)
      await run.send(20 + 10 * number..<30 + 10 * number)
    }
    _ = try await run.recordings.resume(.main, on: run.lane)
    await run.send(50..<55)
    let stopped = try await run.recordings.stop(.main, on: run.lane)
    #expect(stopped.recording == name && stopped.events == 15)
    try await run.end()
  }

  @Test func `attempts continue after a kill, and a replay repeats none of them`() async throws {
    let disk = SimulatedDisk()
    try disk.makeDirectory("/state")
    try disk.syncDirectory("/")
    var run = try KeptRooms(in: "/state", on: disk)
    _ = try run.directory.open(.main)
    let first = try await run.recordings.start(.main, on: run.lane).recording
    await run.send(0..<20)
    disk.decide { failsWrites($0) }
    await run.send(20..<30)
    _ = try await wait(run.lane, for: .failed)
    // The log saves the room in the meantime.
    await run.send(30..<40)
    disk.endProcess()
    try await run.end()
    disk.restart()

    run = try KeptRooms(in: "/state", on: disk)
    await run.restore()
    let restored = try #require(await own(run.lane))
    #expect([.failed, .starting].contains(restored.state))
    #expect(restored.failure?.contains("Input/output error") == true)
    #expect(await run.count() == 40)
    disk.decide { _ in nil }
    let recording = try await wait(run.lane, for: .recording)
    let second = try #require(recording.recording)
    #expect(second != first)
    await run.send(40..<60)
    disk.endProcess()
    try await run.end()
    disk.restart()

    run = try KeptRooms(in: "/state", on: disk)
    await run.restore()
    #expect(await own(run.lane)?.state == .recording)
    #expect(await run.count() == 60)
    #expect(await own(run.lane)?.recording == second)
    await run.send(60..<70)
    let stopped = try await run.recordings.stop(.main, on: run.lane)
    #expect(stopped.recording == second && stopped.events == 30)
    var digests: Set<String> = []
    for name in ["one", "two"] {
      let room = try #require(RoomName(name))
      _ = try run.directory.open(room)
      let replay = Replay(
        try await run.library.files(of: second), into: room, on: run.lane, speed: nil)
      digests.insert(try await replay.run().digest)
      let played = await run.lane.report(room)?.features
      #expect(played?.chat?.total == 30 && played?.recorder?.own == nil)
      #expect(await effects(run.lane, room) == 0)
    }
    #expect(digests.count == 1)
    try await run.end()
  }

  @Test
  func `a recording that begins after a failed attempt replays to the state of the room`()
    async throws
  {
    let disk = SimulatedDisk()
    let studio = try Studio(recording: RecordingSettings(on: disk))
    _ = try studio.directory.open(.main)
    disk.decide { $0.operation == .create && $0.path.contains("/main-") ? .error(ENOSPC) : nil }
    _ = try? await studio.recordings.start(.main, on: studio.lane)
    disk.decide { _ in nil }
    _ = try await studio.recordings.start(.main, on: studio.lane)
    let events = traffic(600)
    _ = await studio.send(events, to: .main, clock: .event)
    let live = await studio.lane.report(.main)
    let recording = try await studio.recordings.stop(.main, on: studio.lane)
    let digest = try #require(recording.digest)
    // Also replays into a room that is itself recorded, and whose recording continues.
    for isRecorded in [false, true] {
      let room = try #require(RoomName("again-\(isRecorded)"))
      _ = try studio.directory.open(room)
      if isRecorded { _ = try await studio.recordings.start(room, on: studio.lane) }
      let replay = Replay(
        try await studio.library.files(of: recording.recording), into: room, on: studio.lane,
        speed: nil)
      #expect(try await replay.run().digest == digest)
      let report = await studio.lane.report(room)
      #expect(report?.features.chat?.untimed == live?.features.chat?.untimed)
      #expect(report?.features.recorder?.own?.state == (isRecorded ? .recording : nil))
      #expect(await effects(studio.lane, room) == (isRecorded ? 2 : 0))
      guard isRecorded else { continue }
      #expect(try await studio.recordings.stop(room, on: studio.lane).digest == digest)
    }
    try await studio.end()
  }
}
