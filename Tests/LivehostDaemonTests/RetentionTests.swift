import ControlInterface
import FileSystem
import Glibc
import LiveEvents
import LivehostDaemon
import Logging
import RateLimiting
import Recordings
import Rooms
import SimulatedDisk
import Synchronization
import TestSupport
import Testing

@Suite struct RetentionTests {
  private func names(_ studio: Studio) async throws -> [String] {
    try await studio.recordings.list(nil).recordings.map(\.recording)
  }

  @Test
  func `the oldest recordings are deleted if the total is too large, or once they are too old`()
    async throws
  {
    let log = Mutex<[String]>([])
    let studio = try Studio(
      logger: Logger(noting: { entry in log.withLock { $0.append("\(entry.message)") } }))
    for _ in 1...3 { _ = try await studio.record(50) }
    let listed = try await studio.recordings.list(nil).recordings
    let all = listed.map(\.recording)
    let time = Mutex(try #require(listed.compactMap(\.endedAt).max()))
    let aside = Mutex<Set<String>>([])
    let retention = RecordingRetention(
      studio.recordings, of: studio.directory, limits: RetentionLimits(), metrics: DaemonMetrics(),
      roomsAside: { aside.withLock { $0 } }, now: { time.withLock { $0 } })
    await retention.enforce()
    retention.apply(RetentionLimits(maximumBytes: listed.reduce(0) { $0 + $1.bytes }))
    await retention.enforce()
    #expect(try await names(studio) == all)
    retention.apply(RetentionLimits(maximumBytes: listed.reduce(-1) { $0 + $1.bytes }))
    await retention.enforce()
    #expect(try await names(studio) == Array(all.dropFirst()))

    retention.apply(RetentionLimits(maximumAge: 60_000))
    time.withLock { $0 += 60_000 }
    // The end times follow a clock that runs during the recording, so the second recording may have
    // an earlier end.
    await retention.enforce()
    #expect(try await names(studio).last == all.last)
    time.withLock { $0 += 1 }
    aside.withLock { $0 = ["main"] }
    await retention.enforce()
    #expect(try await names(studio).last == all.last)
    aside.withLock { $0 = [] }
    await retention.enforce()
    #expect(try await names(studio).isEmpty)
    let told = log.withLock { $0 }.filter { $0.contains("deleted") }
    #expect(
      told == [
        "recording \(all[0]) deleted: the total size exceeds recordings.maximumBytes",
        "recording \(all[1]) deleted: it is older than recordings.maximumAge",
        "recording \(all[2]) deleted: it is older than recordings.maximumAge",
      ])
    try await studio.end()
  }

  @Test func `the end of a recording is never before its beginning, whatever its files contain`()
    async throws
  {
    let disk = SimulatedDisk()
    var settings = RecordingSettings()
    (settings.disk, settings.cataloguePath) = (disk, ":memory:")
    let studio = try Studio(path: "/recordings", recording: settings)
    let day = 86_400_000
    for age in [1, 2] {
      let recorder = try await studio.library.start(room: "day-\(age)", startedAt: (10 - age) * day)
      { _ in }
      _ = try await recorder.finish(digest: nil, endedAt: .min)
    }
    // A failed recording has no end time.
    let far = try await studio.library.start(room: "far", startedAt: .max) { _ in }
    let log = studio.library.log("far") {}
    for second in [0, 1, 2] {
      var batch = RecordedBatch()
      let sequence = log.nextSequence()
      batch.addMark(
        LogMark(room: "far", sequence: sequence, after: sequence - 1, recording: far.name))
      batch.addFrame(at: Instant(nanoseconds: Int64(second) * 1_000_000_000), flush: false)
      batch.recorder = far
      if second == 2 {
        disk.decide { [name = far.name] call in
          call.operation == .write && call.path.contains(name) ? .error(EIO) : nil
        }
      }
      await withCheckedContinuation { continuation in
        batch.whenSynced { continuation.resume() }
        log.post(batch)
      }
    }
    await studio.library.settle()
    #expect(far.failure != nil)
    disk.decide { _ in nil }
    let retention = RecordingRetention(
      studio.recordings, of: studio.directory, limits: RetentionLimits(maximumAge: day),
      metrics: DaemonMetrics(), now: { 10 * day })
    await retention.enforce()
    #expect(try await studio.recordings.list(nil).recordings.map(\.room) == ["day-1", "far"])
    try await studio.end()
  }

  @Test(.timeLimit(.minutes(1)))
  func `the limits apply when a recording ends, and never to a recording in progress`() async throws
  {
    let studio = try Studio()
    let retention = RecordingRetention(
      studio.recordings, of: studio.directory, limits: RetentionLimits(maximumBytes: 1),
      metrics: DaemonMetrics())
    _ = try studio.directory.open(.main)
    let running = try await studio.recordings.start(.main, on: studio.lane).recording
    await retention.enforce()
    #expect(try await names(studio) == [running])
    let task = Task {
      await retention.run(sleep: { _ in try await untilCancelled() })
    }
    do {
      _ = try await studio.recordings.stop(.main, on: studio.lane)
    } catch ControlError.noSuchRecording(running) {
      // The recording was deleted before its report was complete.
    }
    while try await !names(studio).isEmpty { await Task.yield() }
    task.cancel()
    _ = await task.result
    try await studio.end()
  }
}
