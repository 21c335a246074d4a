import FileSystem
import Foundation
import Glibc
import LiveEvents
import RateLimiting
import Recordings
import SimulatedDisk
import Synchronization
import SystemSupport
import TestSupport
import Testing

/// The copying of batches from the log to recordings, and the failures of both.
@Suite(.timeLimit(.minutes(1))) struct FollowingTests {
  /// Runs a program that records a room, pauses, and resumes, while another room writes to the log.
  /// The program is killed before the recording ends. Returns the steps that the recording must
  /// contain.
  private func live(
    in library: RecordingLibrary
  ) async throws -> (recording: String, steps: [RecordedStep]) {
    let (room, other) = (
      try await LoggedRoom(in: library), try await LoggedRoom("other", in: library)
    )
    var steps: [RecordedStep] = []
    func write(_ count: Int) async {
      let new = makeSteps(count, seed: UInt64(steps.count + 1))
      if room.recorder != nil { steps += new }
      await room.write(new)
      await other.write(makeSteps(2))
    }
    await write(3)
    let name = try await room.record().name
    for _ in 1...3 { await write(10) }
    try await room.pause()
    await write(5)
    _ = try await room.record(resuming: name)
    for _ in 1...4 { await write(10) }
    room.endRecording()
    await write(5)
    return (name, steps)
  }

  /// Settings with which ``live(in:)`` does or does not begin new segments and sync its recording.
  private static let variants: [RecordingSettings] = [3_000, 1 << 20].flatMap { size in
    var settings = RecordingSettings()
    settings.segmentBytes = size
    return [settings.syncingRarely, settings.syncingAtOnce]
  }

  @Test(arguments: variants.indices, [true, false])
  func `a recording torn at any byte is completed from the log, and continues`(
    variant: Int, hasCatalogue: Bool
  ) async throws {
    let settings = Self.variants[variant]
    let (whole, copy) = (TemporaryDirectory(in: "/dev/shm"), TemporaryDirectory(in: "/dev/shm"))
    let library = try RecordingLibrary(in: whole, settings: settings)
    let (name, steps) = try await live(in: library)
    let file = try #require(try await library.files(of: name).segments.last).path
    library.close()
    let last = try bytes(file)
    // The header of a segment is synced before anything else.
    let header = try #require(last.firstIndex(of: 0x0A)) + 1
    for length in stride(from: header, through: last.count, by: 97) {
      try FileManager.default.removeItem(atPath: copy.path)
      try FileManager.default.copyItem(atPath: whole.path, toPath: copy.path)
      if !hasCatalogue {
        try FileManager.default.removeItem(atPath: copy.recordings + "/catalogue.sqlite")
      }
      #expect(
        truncate(copy.recordings + file.dropFirst(whole.recordings.count), off_t(length)) == 0)
      let next = try RecordingLibrary(in: copy, settings: settings)
      defer { next.close() }
      let summary = try #require(try await next.list().first)
      #expect(summary.state == .interrupted && summary.events + summary.frames == steps.count)
      #expect(try await next.readable(name) == (steps, nil), "torn at \(length)")
      let room = try await LoggedRoom(in: next)
      let recorder = try await room.record(resuming: name)
      await room.write(makeSteps(5))
      #expect(try await recorder.finish(digest: nil, endedAt: 1).state == .finished)
      #expect(try await next.readable(name) == (steps + makeSteps(5), nil), "torn at \(length)")
    }
  }

  @Test(arguments: [DiskFault.processEnd, .powerLoss])
  func `a recovery that is interrupted twice completes the recording at the third start`(
    fault: DiskFault
  ) async throws {
    for variant in Self.variants.indices {
      var (call, hasCrashed) = (0, true)
      while hasCrashed {
        call += 1
        let disk = SimulatedDisk(seed: UInt64(call), pageBytes: 512)
        try disk.makeDirectory("/state")
        try disk.syncDirectory("/")
        var settings = Self.variants[variant]
        (settings.disk, settings.cataloguePath) = (disk, ":memory:")
        func open() throws -> RecordingLibrary {
          try RecordingLibrary(directory: "/state/recordings", settings: settings)
        }
        let first = try open()
        let (name, steps) = try await live(in: first)
        disk.losePower()
        first.close()
        for _ in 1...2 {
          disk.restart()
          let crash = disk.calls + call
          disk.decide { $0.number == crash ? fault : nil }
          let library = try open()
          _ = try? await library.list()
          library.close()
          hasCrashed = disk.hasEnded
        }
        disk.restart()
        let library = try open()
        defer { library.close() }
        #expect(try await library.list().map(\.state) == [.interrupted])
        #expect(
          try await library.readable(name) == (steps, nil), "variant \(variant), call \(call)")
      }
      #expect(call > 15)
    }
  }

  // MARK: Copying

  @Test func `only batches that the log has synced are copied`() async throws {
    let disk = SimulatedDisk()
    let library = try RecordingLibrary(
      directory: "/recordings", settings: RecordingSettings(on: disk).syncingRarely)
    defer { library.close() }
    let room = try await LoggedRoom(in: library)
    let recorder = try await room.record()
    let path = try await library.files(of: recorder.name).segments[0].path
    let header = disk.contents(of: path)
    for number in 1...3 {
      room.post(makeSteps(10, seed: UInt64(number)))
      // The second call is in a later group commit.
      for _ in 1...2 { await library.settle() }
      #expect(recorder.waitingSteps == number * 10 && disk.contents(of: path) == header)
    }
    await room.write([])
    #expect(recorder.waitingSteps == 0)
    // The batch is copied before the recording ends.
    room.post(makeSteps(10, seed: 4))
    #expect(try await recorder.finish(digest: nil, endedAt: 1).state == .finished)
    let steps = (1...4).flatMap { makeSteps(10, seed: UInt64($0)) }
    #expect(try await library.steps(of: recorder.name) == steps)
  }

  @Test func `the log is synced early when too many bytes wait to be copied`() async throws {
    let disk = SimulatedDisk()
    let library = try RecordingLibrary(
      directory: "/recordings", settings: RecordingSettings(on: disk).syncingRarely)
    defer { library.close() }
    let room = try await LoggedRoom(in: library)
    let recorder = try await room.record()
    let text = String(repeating: "-", count: 400_000)
    let steps = Array(
      repeating: RecordedStep.change(#"{"text":"\#(text)"}"#, at: .origin), count: 48)
    room.post(steps)
    await library.settle()
    #expect(recorder.waitingSteps == 0)
    #expect(try await library.steps(of: recorder.name) == steps)
  }

  @Test func `a recording contains no batches from before its start, a pause, or after its end`()
    async throws
  {
    let directory = TemporaryDirectory()
    let library = try RecordingLibrary(in: directory)
    defer { library.close() }
    let (name, steps) = try await live(in: library)
    #expect(try await library.steps(of: name) == steps)
    #expect(try await library.list().map(\.segments) == [2])
  }

  // MARK: Failures

  @Test(arguments: [SystemError.Operation.write, .sync])
  func `a failure of the log fails all recordings, which keep the copied batches`(
    operation: SystemError.Operation
  ) async throws {
    let disk = SimulatedDisk()
    let settings = RecordingSettings(on: disk).syncingRarely
    let library = try RecordingLibrary(directory: "/recordings", settings: settings)
    let room = try await LoggedRoom(in: library)
    let recorder = try await room.record()
    // The room of this recording is idle.
    let other = try await LoggedRoom("other", in: library).record()
    await room.write(makeSteps(20))
    disk.decide { call in
      call.operation == operation && call.path.hasPrefix("/recordings.log/") ? .error(EIO) : nil
    }
    await room.write(makeSteps(10, seed: 2))
    let failure = try #require(room.log.failure)
    #expect(recorder.failure == failure && other.failure == failure)
    #expect(recorder.waitingSteps == 0)
    disk.decide { _ in nil }
    // When the log continues, it does not contain the lost batches.
    await room.write(makeSteps(10, seed: 3))
    #expect(try await recorder.finish(digest: "x", endedAt: 1).state == .failed)
    #expect(try await library.steps(of: recorder.name) == makeSteps(20))
    library.close()
    let next = try RecordingLibrary(directory: "/recordings", settings: settings)
    defer { next.close() }
    let list = try await next.list()
    #expect(list.map(\.state) == [.failed, .failed])
    #expect(list.allSatisfy { $0.reason == failure.description })
    #expect(try await next.steps(of: recorder.name) == makeSteps(20))
  }

  @Test(arguments: [SystemError.Operation.write, .sync, .create])
  func `a failed recording affects neither the log, its acknowledgements, nor other recordings`(
    operation: SystemError.Operation
  ) async throws {
    let disk = SimulatedDisk()
    var settings = RecordingSettings(on: disk).syncingAtOnce
    settings.segmentBytes = 3_000
    let library = try RecordingLibrary(directory: "/recordings", settings: settings)
    let (room, other) = (
      try await LoggedRoom(in: library), try await LoggedRoom("other", in: library)
    )
    let (recorder, otherRecorder) = (try await room.record(), try await other.record())
    await room.write(makeSteps(10))
    let path = "/recordings/\(recorder.name)/"
    disk.decide { call in
      call.operation == operation && call.path.hasPrefix(path) ? .error(EIO) : nil
    }
    let steps = (1...6).map { makeSteps(10, seed: UInt64($0)) }
    for steps in steps.dropFirst() {
      await room.write(steps)
      await other.write(steps)
      #expect(room.log.failure == nil && other.log.failure == nil)
    }
    #expect(recorder.failure != nil && otherRecorder.failure == nil)
    #expect(recorder.waitingSteps == 0)
    #expect(try await recorder.finish(digest: nil, endedAt: 1).state == .failed)
    library.close()
    disk.losePower()
    disk.restart()
    let next = try RecordingLibrary(directory: "/recordings", settings: settings)
    defer { next.close() }
    var logged: [String: [RecordedStep]] = [:]
    var marked = ""
    for files in try await next.recoverLog().segments {
      var reader = RecordingReader(files)
      var steps: [RecordedStep] = []
      while try reader.read(into: &steps) {}
      for step in steps {
        if let mark = LogMark(step) {
          marked = mark.room
        } else {
          logged[marked, default: []].append(step)
        }
      }
    }
    #expect(logged == ["main": Array(steps.joined()), "other": Array(steps.dropFirst().joined())])
    #expect(try await next.steps(of: otherRecorder.name) == Array(steps.dropFirst().joined()))
    let kept = try await next.steps(of: recorder.name)
    #expect(kept.starts(with: steps[0]) && steps.joined().starts(with: kept))
  }

  // MARK: Segments that are kept

  /// Writes to the log until it has new segments, and saves all rooms twice, so that rooms need no
  /// old segments.
  private func goOn(_ rooms: [LoggedRoom], _ library: RecordingLibrary) async throws {
    let other = try #require(rooms.last)
    for seed in 1...3 as ClosedRange<UInt64> { await other.write(makeSteps(100, seed: seed)) }
    for _ in 1...2 {
      for room in rooms {
        library.noteSaving(room.name)
        library.noteSaved(room.name, isWritten: true)
      }
    }
    await library.settle()
  }

  @Test(arguments: [true, false])
  func `a segment of the log is kept while a recording needs it, and removed afterwards`(
    isSynced: Bool
  ) async throws {
    let disk = SimulatedDisk()
    var settings = RecordingSettings(on: disk)
    settings.segmentBytes = 8 << 10
    settings = isSynced ? settings.syncingAtOnce : settings.syncingRarely
    func isFirstKept() -> Bool { disk.contents(of: "/recordings.log/000001.ndjson") != nil }
    let library = try RecordingLibrary(directory: "/recordings", settings: settings)
    let (room, other) = (
      try await LoggedRoom(in: library), try await LoggedRoom("other", in: library)
    )
    try await goOn([room, other], library)
    #expect(!isFirstKept())
    let recorder = try await room.record()
    var needed = ""
    for seed in 1...2 as ClosedRange<UInt64> {
      await room.write(makeSteps(10, seed: seed))
      if seed == 1 || isSynced { needed = try disk.names(in: "/recordings.log").last ?? "" }
      // By now, the `segmentSynced` line itself is synced.
      await library.settle()
      try await goOn([room, other], library)
      #expect(try disk.names(in: "/recordings.log").contains(needed) == !isSynced)
    }
    _ = try await recorder.finish(digest: nil, endedAt: 1)
    try await goOn([room, other], library)
    #expect(try !disk.names(in: "/recordings.log").contains(needed))
    library.close()
  }

  @Test func `a segment of the log is kept until the segmentSynced line is synced itself`()
    async throws
  {
    let disk = SimulatedDisk()
    var settings = RecordingSettings(on: disk).syncingAtOnce
    settings.segmentBytes = 8 << 10
    let library = try RecordingLibrary(directory: "/recordings", settings: settings)
    let (room, other) = (
      try await LoggedRoom(in: library), try await LoggedRoom("other", in: library)
    )
    let name = try await room.record().name
    let removals = Mutex(0)
    @Sendable func isRemoval(_ call: DiskCall) -> Bool {
      call.operation == .remove && call.path.hasPrefix("/recordings.log/")
    }
    func holdSync(in directory: String) {
      disk.decide { call in
        if isRemoval(call) { removals.withLock { $0 += 1 } }
        let isHeld = call.operation == .sync && call.path.hasPrefix(directory)
        return isHeld ? .never : nil
      }
    }
    holdSync(in: "/recordings.log/")
    other.post(makeSteps(1)) {}
    await disk.hasCaught()
    // In one group commit: the log begins a new segment after the copied lines.
    room.post(makeSteps(10))
    other.post(makeSteps(100)) {}
    holdSync(in: "/recordings/\(name)/")
    disk.release()
    await disk.hasCaught()
    // Between this sync and the next one, no room needs the log.
    for _ in 1...2 {
      for name in ["main", "other"] {
        library.noteSaving(name)
        library.noteSaved(name, isWritten: true)
      }
    }
    let before = Mutex<Int?>(nil)
    disk.decide { call in
      if isRemoval(call) { removals.withLock { $0 += 1 } }
      if call.operation == .sync, call.path.hasPrefix("/recordings/") {
        before.withLock { $0 = $0 ?? removals.withLock { $0 } }
      }
      return nil
    }
    disk.release()
    for _ in 1...2 { await library.settle() }
    #expect(before.withLock { $0 } == 0)
    try await goOn([room, other], library)
    #expect(removals.withLock { $0 } > 0)
    library.close()
  }

  @Test
  func `a power failure at any call leaves a recording complete, however early the log is cut`()
    async throws
  {
    var (call, hasCrashed) = (20, true)
    var kept: Set<Int> = []
    while hasCrashed {
      call += 1
      let disk = SimulatedDisk(seed: UInt64(call), pageBytes: 512)
      try disk.makeDirectory("/state")
      try disk.syncDirectory("/")
      var settings = RecordingSettings(on: disk)
      settings.segmentBytes = 2_500
      settings = call % 2 == 0 ? settings.syncingAtOnce : settings.syncingRarely
      func open() throws -> RecordingLibrary {
        try RecordingLibrary(directory: "/state/recordings", settings: settings)
      }
      let crash = call
      disk.decide { $0.number == crash ? .powerLoss : nil }
      let library = try open()
      let room = try await LoggedRoom(in: library)
      let recorder = try? await room.record()
      var (written, acknowledged): ([RecordedStep], Int) = ([], 0)
      for seed in 1...8 as ClosedRange<UInt64> {
        let steps = makeSteps(10, seed: seed)
        written += steps
        await room.write(steps)
        if room.log.failure == nil { acknowledged = written.count }
        library.noteSaving(room.name)
        library.noteSaved(room.name, isWritten: true)
        await library.settle()
      }
      hasCrashed = disk.hasEnded
      library.close()
      disk.losePower()
      disk.restart()
      let next = try open()
      defer { next.close() }
      guard let recorder else { continue }
      let (read, damage) = try await next.readable(recorder.name)
      #expect(damage == nil && written.starts(with: read), "call \(call)")
      #expect(read.count >= acknowledged, "call \(call): \(read.count) of \(acknowledged)")
      kept.insert(read.count)
    }
    #expect(call > 60 && kept.count > 5)
  }

  @Test func `the log is kept until the recordings are completed from it`() async throws {
    let directory = TemporaryDirectory()
    let settings = RecordingSettings.small.syncingRarely
    let first = try RecordingLibrary(in: directory, settings: settings)
    let (name, steps) = try await live(in: first)
    first.close()
    let file = "\(directory.recordings)/\(name)/000002.ndjson"
    #expect(truncate(file, off_t(try bytes(file).firstIndex(of: 0x0A) ?? 0) + 1) == 0)
    // The directory of recordings does not exist yet.
    let aside = directory.path + "/aside"
    try FileManager.default.moveItem(atPath: directory.recordings, toPath: aside)
    try write([], to: directory.recordings)
    let library = try RecordingLibrary(in: directory, settings: settings)
    defer { library.close() }
    let rooms = [
      try await LoggedRoom(in: library), try await LoggedRoom("other", in: library),
    ]
    await #expect(throws: RecordingError.self) { try await library.list() }
    for _ in 1...3 { try await goOn(rooms, library) }
    try FileManager.default.removeItem(atPath: directory.recordings)
    try FileManager.default.moveItem(atPath: aside, toPath: directory.recordings)
    #expect(try await library.list().map(\.state) == [.interrupted])
    #expect(try await library.readable(name) == (steps, nil))
    // The segment being written is kept, and unneeded segments are removed.
    try await goOn(rooms, library)
    #expect(rooms.allSatisfy { $0.log.failure == nil })
    let log = directory.recordings + ".log"
    #expect(!FileManager.default.fileExists(atPath: log + "/000001.ndjson"))
  }

  @Test func `the log cannot be read while it is written`() async throws {
    let directory = TemporaryDirectory()
    let library = try RecordingLibrary(in: directory)
    let log = library.log("main") {}
    for number in 1...2 {
      var batch = RecordedBatch()
      batch.addMark(LogMark(room: "main", sequence: number, after: number - 1))
      batch.addFrame(at: .origin, flush: false)
      log.post(batch)
      // The catalogue is opened only now.
      #expect(try await library.list() == [])
      await #expect(throws: RecordingError.inUse("log")) { try await library.recoverLog() }
    }
    library.close()
    let messages = Messages()
    let next = try RecordingLibrary(in: directory, onProblem: messages.add)
    defer { next.close() }
    #expect(try await next.recoverLog().rooms["main"]?.last == 2)
    #expect(messages.all == [])
  }

  // MARK: Gaps in the log

  @Test(arguments: [true, false])
  func `batches after a gap in the log are not copied, and the longer copy is kept`(
    isRecordingCut: Bool
  ) async throws {
    let directory = TemporaryDirectory()
    let settings = RecordingSettings.small.syncingRarely
    let first = try RecordingLibrary(in: directory, settings: settings)
    let (room, other) = (
      try await LoggedRoom(in: first), try await LoggedRoom("other", in: first)
    )
    let name = try await room.record().name
    // Each of the first three segments of the log contains one batch.
    let steps = (1...3).map { makeSteps(10, seed: UInt64($0)) }
    for steps in steps {
      await room.write(steps)
      await other.write(makeSteps(100))
    }
    let file = try await first.files(of: name).segments[0].path
    first.close()
    if isRecordingCut {
      #expect(truncate(file, off_t(try bytes(file).firstIndex(of: 0x0A) ?? 0) + 1) == 0)
    }
    let log = directory.recordings + ".log/00000"
    #expect(try String(contentsOfFile: log + "2.ndjson", encoding: .utf8).contains(#""recording""#))
    try FileManager.default.removeItem(atPath: log + "2.ndjson")
    let messages = Messages()
    let library = try RecordingLibrary(in: directory, settings: settings, onProblem: messages.add)
    defer { library.close() }
    #expect(try await library.list().map(\.state) == [.interrupted])
    let left = isRecordingCut ? steps[0] : Array(steps.joined())
    #expect(try await library.readable(name) == (left, nil))
    #expect(messages.all.contains { $0.contains("'\(name)' lacks its end, ") })
  }

  @Test func `without the log, a recording keeps all its batches`() async throws {
    let directory = TemporaryDirectory()
    let settings = RecordingSettings().syncingRarely
    let first = try RecordingLibrary(in: directory, settings: settings)
    let (name, steps) = try await live(in: first)
    first.close()
    try directory.loseLog()
    let library = try RecordingLibrary(in: directory, settings: settings)
    defer { library.close() }
    #expect(try await library.list().map(\.state) == [.interrupted])
    #expect(try await library.readable(name) == (steps, nil))
  }
}
