import FileSystem
import Foundation
import Glibc
import LiveEvents
import RateLimiting
import Recordings
import SimulatedDisk
import TestSupport
import Testing

/// Ways to damage the file of a catalogue. Except with `gone`, the file keeps its inode.
enum CatalogueDamage: CaseIterable {
  case gone, empty, truncated, overwritten

  func apply(to path: String) throws {
    switch self {
    case .gone: try FileManager.default.removeItem(atPath: path)
    case .empty: #expect(truncate(path, 0) == 0)
    case .truncated: #expect(truncate(path, 5_000) == 0)
    case .overwritten:
      #expect(truncate(path, 0) == 0)
      let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
      try file.write(contentsOf: Data("not a catalogue\n".utf8))
      try file.close()
    }
  }
}

@Suite struct RecoveryTests {
  /// Records without closing the recording, like a program that is killed, and removes the log.
  /// Returns the name of the recording and the path of its last segment.
  private func leave(
    _ steps: [RecordedStep], in directory: TemporaryDirectory
  ) async throws -> (String, String) {
    let library = try RecordingLibrary(in: directory, settings: .small.syncingRarely)
    let room = try await LoggedRoom(in: library)
    let recorder = try await room.record()
    for start in stride(from: 0, to: steps.count, by: 50) {
      await room.write(steps[start..<min(start + 50, steps.count)])
    }
    let file = try #require(try await library.files(of: recorder.name).segments.last).path
    library.close()
    try directory.loseLog()
    return (recorder.name, file)
  }

  @Test func `a segment torn at any byte keeps its complete lines, and the recording continues`()
    async throws
  {
    let directory = TemporaryDirectory(in: "/dev/shm")
    let steps = makeSteps(12)
    let more = makeSteps(3, seed: 2)
    let (name, file) = try await leave(steps, in: directory)
    let whole = try bytes(file)
    for length in 0..<whole.count {
      try directory.empty()
      try FileManager.default.createDirectory(
        atPath: directory.recordings + "/" + name, withIntermediateDirectories: true)
      try write(whole[..<length], to: file)
      let messages = Messages()
      let library = try RecordingLibrary(
        in: directory, settings: .small, onProblem: messages.add)
      let lines = whole[..<length].count { $0 == 0x0A }
      guard lines > 0 else {
        #expect(try await library.list().isEmpty)
        #expect(!FileManager.default.fileExists(atPath: file), "it held nothing")
        library.close()
        continue
      }
      let left = Array(steps.prefix(lines - 1))
      let summary = try #require(try await library.list().first)
      #expect(summary.state == .interrupted)
      #expect(summary.events + summary.frames == left.count, "cut at \(length)")
      #expect(try await library.steps(of: name) == left)
      #expect(try bytes(file).count == summary.bytes)
      let isTorn = whole[length - 1] != 0x0A
      #expect(messages.all.count == (isTorn ? 1 : 0), "\(messages.all)")
      let room = try await LoggedRoom(in: library)
      let recorder = try await room.record(resuming: name)
      await room.write(more)
      #expect(try await recorder.finish(digest: nil, endedAt: 1).state == .finished)
      #expect(try await library.steps(of: name) == left + more)
      library.close()
    }
  }

  @Test func `a new segment torn at any byte of its header is removed`() async throws {
    let directory = TemporaryDirectory(in: "/dev/shm")
    let steps = makeSteps(40)
    let (name, file) = try await leave(steps, in: directory)
    let first = try bytes(file)
    var library = try RecordingLibrary(in: directory, settings: .small)
    let recorder = try #require(try await library.resume(name) { _ in })
    library.close()
    let next = directory.recordings + "/\(recorder.name)/000002.ndjson"
    let header = try bytes(next)
    #expect(header.count { $0 == 0x0A } == 1)
    for length in 0...header.count {
      try directory.empty()
      try FileManager.default.createDirectory(
        atPath: directory.recordings + "/" + name, withIntermediateDirectories: true)
      try write(first, to: file)
      try write(header[..<length], to: next)
      library = try RecordingLibrary(in: directory, settings: .small)
      #expect(try await library.list().map(\.state) == [.interrupted])
      #expect(try await library.steps(of: name) == steps)
      #expect(!FileManager.default.fileExists(atPath: next))
      library.close()
    }
  }

  @Test(
    arguments: [
      [UInt8](repeating: 0, count: 4096), [0x0A], Array("{\"type\":\"frame\",\"at\":12x}\n".utf8),
    ])
  func `garbage after the last line is cut off`(tail: [UInt8]) async throws {
    let directory = TemporaryDirectory()
    let steps = makeSteps(120)
    let (name, file) = try await leave(steps, in: directory)
    let whole = try bytes(file)
    try write(whole + tail, to: file)
    let messages = Messages()
    let library = try RecordingLibrary(
      in: directory, settings: .small, onProblem: messages.add)
    defer { library.close() }
    #expect(try await library.list().map(\.state) == [.interrupted])
    #expect(messages.all.count == 1)
    let left = try bytes(file)
    #expect(left.starts(with: whole))
    #expect(left[whole.count...].count { $0 == 0x0A } == 1, "the last line")
    #expect(try await library.steps(of: name) == steps)
  }

  @Test(
    arguments: CatalogueDamage.allCases)
  func `a missing, truncated or overwritten catalogue is rebuilt from the segments`(
    damage: CatalogueDamage
  ) async throws {
    let directory = TemporaryDirectory()
    var library = try RecordingLibrary(in: directory, settings: .small)
    let steps = makeSteps(900)
    try await library.record(steps)
    try await library.record(Array(steps.prefix(90)), room: "other")
    let before = try await library.list()
    library.close()
    try damage.apply(to: directory.recordings + "/catalogue.sqlite")
    library = try RecordingLibrary(in: directory, settings: .small)
    defer { library.close() }
    #expect(try await library.list() == before)
    #expect(
      try await library.steps(of: before[0].name).count == before[0].events + before[0].frames)
  }

  @Test(
    arguments: CatalogueDamage.allCases)
  func `a catalogue damaged at run time is rebuilt with the recordings being written`(
    damage: CatalogueDamage
  ) async throws {
    let directory = TemporaryDirectory()
    var library = try RecordingLibrary(in: directory, settings: .small)
    let steps = makeSteps(900)
    try await library.record(steps)
    let room = try await LoggedRoom("other", in: library)
    let recorder = try await room.record(startedAt: 1_700_000_000_500)
    await room.write(steps.prefix(500))
    let before = try await library.list()
    #expect(before.map(\.state) == [.finished, .recording])
    #expect(before[1].segments > 1)
    try damage.apply(to: directory.recordings + "/catalogue.sqlite")
    #expect(try await library.list() == before)
    await room.write(steps.dropFirst(500))
    let summary = try await recorder.finish(digest: nil, endedAt: 1_700_000_100_000)
    #expect(try await library.list() == [before[0], summary])
    #expect(try await library.steps(of: summary.name) == steps)
    library.close()
    library = try RecordingLibrary(in: directory, settings: .small)
    defer { library.close() }
    #expect(try await library.list() == [before[0], summary])
  }

  @Test func `a flipped byte in a closed segment is reported by the list and by readers`()
    async throws
  {
    let directory = TemporaryDirectory()
    var library = try RecordingLibrary(in: directory, settings: .small)
    let summary = try await library.record(makeSteps(900))
    let segment = try await library.files(of: summary.name).segments[2]
    var contents = try bytes(segment.path)
    // Within a text, so that the line remains valid JSON.
    let offset = try #require(contents.firstIndex(of: 0xC3))
    contents[offset + 1] ^= 1
    try write(contents, to: segment.path)
    // At run time, a reader finds the damage.
    let line = contents[..<offset].count { $0 == 0x0A }
    let number = try #require(try LineMembers.of(contents)[line].number)
    let damage = Damage(segment: 3, lastGoodLine: number - 1)
    await #expect(throws: RecordingError.damaged(recording: summary.name, damage)) {
      try await library.steps(of: summary.name)
    }
    library.close()
    // At the next start, the list reports it.
    library = try RecordingLibrary(in: directory, settings: .small)
    defer { library.close() }
    let listed = try #require(try await library.list().first)
    #expect(listed.state == .damaged)
    #expect(listed.reason == damage.description)
  }

  @Test func `a missing segment is reported, and a missing recording is not listed`()
    async throws
  {
    let directory = TemporaryDirectory()
    var library = try RecordingLibrary(in: directory, settings: .small)
    let summary = try await library.record(makeSteps(900))
    let other = try await library.record(makeSteps(10), room: "other")
    let segment = try await library.files(of: summary.name).segments[1]
    library.close()
    try FileManager.default.removeItem(atPath: segment.path)
    try FileManager.default.removeItem(atPath: directory.recordings + "/" + other.name)
    let messages = Messages()
    library = try RecordingLibrary(
      in: directory, settings: .small, onProblem: messages.add)
    defer { library.close() }
    let list = try await library.list()
    #expect(list.map(\.name) == [summary.name])
    #expect(list.first?.reason == "segment 2 is missing")
    #expect(
      messages.all == [
        "recording '\(summary.name)': segment 2 is missing",
        "recording '\(other.name)' is missing: its directory does not exist, or contains no segments",
      ])
    // A reader reports the same damage, and then the list does.
    let (_, damage) = try await library.readable(summary.name)
    #expect(try await library.note(try #require(damage), of: summary.name) == false)
    #expect(try await library.list() == list)
  }

  @Test func `a recording without its first segment is damaged`()
    async throws
  {
    let disk = SimulatedDisk()
    var settings = RecordingSettings(on: disk)
    settings.segmentBytes = 8 << 10
    let library = try RecordingLibrary(directory: "/recordings", settings: settings)
    defer { library.close() }
    let summary = try await library.record(makeSteps(900))
    try disk.remove(try await library.files(of: summary.name).segments[0].path)
    let (read, damage) = try await library.readable(summary.name)
    #expect(read.isEmpty)
    #expect(damage == Damage(segment: 1, .missing))
  }

  @Test func `a missing last segment is damage until the segment is restored`() async throws {
    let directory = TemporaryDirectory()
    var library = try RecordingLibrary(in: directory, settings: .small)
    let summary = try await library.record(makeSteps(900))
    let last = try #require(try await library.files(of: summary.name).segments.last)
    let aside = directory.recordings + "/aside"
    try FileManager.default.moveItem(atPath: last.path, toPath: aside)
    let damage = Damage(segment: last.number, .missing)
    #expect(try await library.readable(summary.name).damage == damage)
    library.close()
    for _ in 1...2 {
      library = try RecordingLibrary(in: directory, settings: .small)
      let listed = try #require(try await library.list().first)
      #expect(listed.state == .damaged && listed.reason == damage.description)
      #expect(listed.bytes == summary.bytes - last.bytes)
      #expect(try await library.readable(summary.name).damage == damage)
      library.close()
    }
    try FileManager.default.moveItem(atPath: aside, toPath: last.path)
    library = try RecordingLibrary(in: directory, settings: .small)
    defer { library.close() }
    #expect(try await library.list() == [summary])
    #expect(try await library.steps(of: summary.name) == makeSteps(900))
  }

  @Test(arguments: [true, false])
  func `without a catalogue, a missing last segment is detected from the segment before`(
    isFinished: Bool
  ) async throws {
    let directory = TemporaryDirectory()
    var library = try RecordingLibrary(in: directory, settings: .small)
    var name = ""
    if isFinished {
      name = try await library.record(makeSteps(900)).name
    } else {
      library.close()
      (name, _) = try await leave(makeSteps(900), in: directory)
      library = try RecordingLibrary(in: directory, settings: .small)
    }
    let last = try #require(try await library.files(of: name).segments.last)
    library.close()
    let aside = directory.recordings + "/aside"
    try FileManager.default.moveItem(atPath: last.path, toPath: aside)
    let damage = Damage(segment: last.number, .missing)
    let catalogue = directory.recordings + "/catalogue.sqlite"
    for _ in 1...2 {
      try FileManager.default.removeItem(atPath: catalogue)
      library = try RecordingLibrary(in: directory, settings: .small)
      let listed = try #require(try await library.list().first)
      #expect(listed.state == .damaged && listed.reason == damage.description)
      #expect(try await library.readable(name).damage == damage)
      library.close()
    }
    try FileManager.default.moveItem(atPath: aside, toPath: last.path)
    library = try RecordingLibrary(in: directory, settings: .small)
    defer { library.close() }
    #expect(try await library.list().map(\.state) == [isFinished ? .finished : .interrupted])
    #expect(try await library.steps(of: name) == makeSteps(900))
  }

  @Test(arguments: [true, false])
  func `an announced segment without lines is not reported as missing`(
    isCatalogueLost: Bool
  ) async throws {
    let directory = TemporaryDirectory()
    let (name, file) = try await leave(makeSteps(900), in: directory)
    let whole = try bytes(file)
    // Killed after the header, and the last line of the segment before, were written.
    try write(whole[...(try #require(whole.firstIndex(of: 0x0A)))], to: file)
    var library: RecordingLibrary
    var segments = 0
    for life in 1...2 {
      if life == 2 || isCatalogueLost {
        try FileManager.default.removeItem(atPath: directory.recordings + "/catalogue.sqlite")
      }
      let messages = Messages()
      library = try RecordingLibrary(
        in: directory, settings: .small, onProblem: messages.add)
      let listed = try #require(try await library.list().first)
      #expect(listed.state == .interrupted && messages.all == [])
      segments = listed.segments
      #expect(!FileManager.default.fileExists(atPath: file))
      library.close()
    }
    library = try RecordingLibrary(in: directory, settings: .small)
    defer { library.close() }
    let before = try await library.steps(of: name)
    let room = try await LoggedRoom(in: library)
    let recorder = try await room.record(resuming: name)
    await room.write(makeSteps(3, seed: 2))
    let summary = try await recorder.finish(digest: nil, endedAt: 1)
    #expect(summary.state == .finished && summary.segments == segments + 1)
    #expect(try await library.steps(of: name) == before + makeSteps(3, seed: 2))
  }

  @Test func `a recording without files is damaged`() async throws {
    let directory = TemporaryDirectory()
    let library = try RecordingLibrary(in: directory, settings: .small)
    defer { library.close() }
    let summary = try await library.record(makeSteps(20))
    let file = try await library.files(of: summary.name).segments[0].path
    for path in [file, directory.recordings + "/" + summary.name] {
      try FileManager.default.removeItem(atPath: path)
      let (read, damage) = try await library.readable(summary.name)
      #expect(read.isEmpty && damage == Damage(segment: 1, .missing))
    }
  }

  @Test(arguments: [true, false], [0, 512, 513, 1 << 20])
  func `a segment of zeros is removed only if it never had any lines`(
    isKnown: Bool, size: Int
  ) async throws {
    let directory = TemporaryDirectory()
    var library = try RecordingLibrary(in: directory)
    let summary = try await library.record(makeSteps(900))
    let file = try await library.files(of: summary.name).segments[0].path
    library.close()
    try write([UInt8](repeating: 0, count: size), to: file)
    if !isKnown {
      try FileManager.default.removeItem(atPath: directory.recordings + "/catalogue.sqlite")
    }
    for _ in 1...2 {
      library = try RecordingLibrary(in: directory)
      let list = try await library.list()
      if isKnown || size > 512 {
        #expect(list.map(\.state) == [.damaged] && list.map(\.startedAt) == [summary.startedAt])
        #expect(list.first?.reason == "segment 1 has been altered or is incomplete")
        #expect(try bytes(file).count == size)
      } else {
        #expect(list.isEmpty && !FileManager.default.fileExists(atPath: file))
      }
      library.close()
    }
  }

  @Test func `a file of another recording is reported and not replayed`() async throws {
    let directory = TemporaryDirectory()
    var library = try RecordingLibrary(in: directory)
    let summary = try await library.record(makeSteps(300))
    let other = try await library.record(makeSteps(40), room: "other")
    let file = try await library.files(of: summary.name).segments[0].path
    try write(try bytes(try await library.files(of: other.name).segments[0].path), to: file)
    for _ in 1...2 {
      let (read, damage) = try await library.readable(summary.name)
      #expect(read.isEmpty && damage == Damage(segment: 1, .foreign(other.name)))
      library.close()
      library = try RecordingLibrary(in: directory)
      let list = try await library.list()
      #expect(list.map(\.state) == [.damaged, .finished] && list.map(\.room) == ["main", "other"])
      #expect(list.first?.reason == "segment 1 belongs to recording '\(other.name)'")
    }
    library.close()
  }

  @Test func `a renamed recording is valid, and the new name is reported once`() async throws {
    let directory = TemporaryDirectory()
    var library = try RecordingLibrary(in: directory, settings: .small)
    let summary = try await library.record(makeSteps(900))
    library.close()
    try FileManager.default.moveItem(
      atPath: directory.recordings + "/" + summary.name, toPath: directory.recordings + "/kept")
    let file = directory.recordings + "/kept/000001.ndjson"
    for start in 1...3 {
      let messages = Messages()
      library = try RecordingLibrary(
        in: directory, settings: .small, onProblem: messages.add)
      #expect(try await library.list().map(\.name) == ["kept"])
      #expect(try await library.list().map(\.state) == [.finished])
      #expect(try await library.steps(of: "kept") == makeSteps(900))
      let told = [
        "recording 'kept' was renamed: its segments name '\(summary.name)'",
        "recording '\(summary.name)' is missing: its directory does not exist, or contains no segments",
      ]
      #expect(messages.all == (start == 1 ? told : []))
      library.close()
      // Restoring a backup keeps the times of files.
      try write(try bytes(file), to: file)
    }
  }

  @Test func `a recording that could not be read is read again at the next start`() async throws {
    let directory = TemporaryDirectory()
    let disk = SimulatedDisk()
    var library = try RecordingLibrary(
      directory: "/recordings", settings: RecordingSettings(on: disk))
    let room = try await LoggedRoom(in: library)
    let name = try await room.record().name
    await room.write(makeSteps(90))
    library.close()
    let settings = RecordingSettings(on: disk, cataloguePath: directory.path + "/catalogue")
    disk.decide { $0.operation == .read && $0.bytes > 0 ? .error(EIO) : nil }
    library = try RecordingLibrary(directory: "/recordings", settings: settings)
    #expect(try await library.list().first?.reason?.contains("Input/output error") == true)
    library.close()
    disk.decide { _ in nil }
    library = try RecordingLibrary(directory: "/recordings", settings: settings)
    defer { library.close() }
    #expect(try await library.list().map(\.state) == [.interrupted])
    #expect(try await library.readable(name) == (makeSteps(90), nil))
  }

  @Test func `a fault in one recording does not affect the others`() async throws {
    let directory = TemporaryDirectory()
    var library = try RecordingLibrary(in: directory, settings: .small)
    var names: [String] = []
    for room in ["directory", "pipe", "other", "copy", "whole"] {
      names.append(try await library.record(makeSteps(20), room: room).name)
    }
    library.close()
    let paths = names.map { directory.recordings + "/" + $0 }
    try FileManager.default.createDirectory(
      atPath: paths[0] + "/000002.ndjson", withIntermediateDirectories: true)
    #expect(mkfifo(paths[1] + "/000002.ndjson", 0o600) == 0)
    for name in ["1.ndjson", "300000000.ndjson"] { try write([], to: paths[2] + "/" + name) }
    try FileManager.default.copyItem(
      atPath: paths[3] + "/000001.ndjson", toPath: paths[3] + "/000002.ndjson")
    library = try RecordingLibrary(in: directory, settings: .small)
    defer { library.close() }
    let list = Dictionary(
      try await library.list().map { ($0.room, $0) }, uniquingKeysWith: { first, _ in first })
    #expect(list["directory"]?.reason?.contains("000002.ndjson") == true)
    #expect(list["pipe"]?.reason?.contains("000002.ndjson") == true)
    #expect(list["other"]?.state == .finished)
    #expect(list["copy"]?.reason == "segment 2 has been altered or is incomplete")
    #expect(list["whole"]?.state == .finished)
    #expect(try await library.steps(of: names[4]) == makeSteps(20))
    let room = try await LoggedRoom("new", in: library)
    let recorder = try await room.record(startedAt: 1_800_000_000_000)
    #expect(try await recorder.finish(digest: nil, endedAt: 1).state == .finished)
  }

  @Test func `steps at all possible times of a room are read`() async throws {
    let directory = TemporaryDirectory()
    let steps = makeSteps(40)
    let far = steps.map { step in
      let instant = Instant(nanoseconds: step.instant.nanoseconds + (1 << 62))
      return switch step {
      case .event(let event, _): RecordedStep.event(event, at: instant)
      case .frame(_, let flush): RecordedStep.frame(at: instant, flush: flush)
      case .change(let text, _): RecordedStep.change(text, at: instant)
      }
    }
    let (name, _) = try await leave(far, in: directory)
    let library = try RecordingLibrary(in: directory, settings: .small)
    defer { library.close() }
    #expect(try await library.list().first?.state == .interrupted)
    #expect(try await library.steps(of: name) == far)
  }

  @Test func `a time beyond the range of rooms makes a line invalid and overflows nothing`()
    async throws
  {
    let directory = TemporaryDirectory()
    let forged = ["9223372036854775807", "-1", "6000000000000000000", "5000000000000000000"].map {
      "{\"type\":\"frame\",\"at\":\($0)}"
    }
    let first = "{\"type\":\"frame\",\"at\":1}"
    try OldRecording(lines: [first] + forged).write(to: directory.recordings)
    let library = try RecordingLibrary(in: directory, settings: .small)
    defer { library.close() }
    let summary = try #require(try await library.list().first)
    #expect(summary.state == .damaged)
    #expect(summary.frames == 2)
    #expect(summary.durationMs == 4_999_999_999_999)
  }

  @Test func `a reader does not read lines written after it started`() async throws {
    let directory = TemporaryDirectory()
    let library = try RecordingLibrary(in: directory)
    defer { library.close() }
    let steps = makeSteps(200)
    let room = try await LoggedRoom(in: library)
    let recorder = try await room.record()
    await room.write(steps.prefix(100))
    var reader = RecordingReader(try await library.files(of: recorder.name))
    await room.write(steps.dropFirst(100))
    var read: [RecordedStep] = []
    while try reader.read(into: &read) {}
    #expect(read == Array(steps.prefix(100)))
  }

  @Test(.timeLimit(.minutes(1)))
  func `an interrupted recovery is continued by the next start, with the remaining bytes`()
    async throws
  {
    let directory = TemporaryDirectory()
    let disk = SimulatedDisk()
    var settings = RecordingSettings.small
    settings.disk = disk
    settings.cataloguePath = directory.path + "/first"
    var library = try RecordingLibrary(directory: "/recordings", settings: settings)
    let steps = makeSteps(2_000)
    let summary = try await library.record(steps)
    #expect(summary.segments > 10)
    library.close()
    // This file is read as well.
    for path in try disk.names(in: "/recordings.log").map({ "/recordings.log/" + $0 }) {
      try disk.remove(path)
    }
    for name in try disk.names(in: "/") where name.hasPrefix("recordings.log.") {
      try disk.remove("/" + name)
    }
    settings.cataloguePath = directory.path + "/second"
    // The first recovery never gets past the middle.
    disk.decide { call in
      call.operation == .read && disk.bytesRead > summary.bytes / 2 ? .never : nil
    }
    let first = try RecordingLibrary(directory: "/recordings", settings: settings)
    let opening = Task { try? await first.open() }
    await disk.hasCaught()
    #expect((1..<summary.bytes * 6 / 10).contains(first.bytesToRecover))
    // The second recovery reads the other half, and lists the same recordings.
    disk.decide { _ in nil }
    var before = disk.bytesRead
    library = try RecordingLibrary(directory: "/recordings", settings: settings)
    #expect(try await library.list() == [summary])
    #expect((1..<summary.bytes * 7 / 10).contains(disk.bytesRead - before))
    #expect(library.bytesToRecover == 0)
    library.close()
    // The third recovery reads nothing.
    before = disk.bytesRead
    library = try RecordingLibrary(directory: "/recordings", settings: settings)
    #expect(try await library.list() == [summary])
    #expect(disk.bytesRead == before)
    #expect(try await library.steps(of: summary.name) == steps)
    library.close()
    disk.release()
    await opening.value
    first.close()
  }

  @Test(.timeLimit(.minutes(1)))
  func `a locked catalogue is not damaged, and changes are written once it is released`()
    async throws
  {
    let directory = TemporaryDirectory()
    var library = try RecordingLibrary(in: directory, settings: .small)
    let first = try await library.record(makeSteps(100))
    let room = try await LoggedRoom("other", in: library)
    let recorder = try await room.record(startedAt: 1_700_000_000_500)
    await room.write(makeSteps(400))
    let other = try Holder(of: directory.recordings + "/catalogue.sqlite")
    await #expect(throws: RecordingError.catalogueBusy) { try await library.files(of: first.name) }
    // Listing does not need the catalogue.
    #expect(try await library.list().map(\.state) == [.finished, .recording])
    let second = try await recorder.finish(digest: nil, endedAt: 1_700_000_100_000)
    #expect(second.state == .finished)
    other.end()
    #expect(try await library.list() == [first, second])
    library.close()
    #expect(
      !FileManager.default.fileExists(atPath: directory.recordings + "/catalogue.sqlite.damaged"))
    library = try RecordingLibrary(in: directory, settings: .small)
    #expect(try await library.list() == [first, second])
    library.close()
  }

  /// Another program that locks a catalogue.
  private final class Holder {
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())

    init(of path: String) throws {
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = [
        "python3", "-c",
        """
        import os, sqlite3, sys
        connection = sqlite3.connect(sys.argv[1], isolation_level=None)
        connection.execute('BEGIN EXCLUSIVE')
        os.close(1)
        sys.stdin.read()
        """, path,
      ]
      process.standardInput = input
      process.standardOutput = output
      try process.run()
      // Ends once the program has the lock.
      try output.fileHandleForWriting.close()
      _ = output.fileHandleForReading.readDataToEndOfFile()
    }

    func end() {
      try? input.fileHandleForWriting.close()
      process.waitUntilExit()
    }
  }

  @Test func `if the program is killed between two segments, both are kept`() async throws {
    let directory = TemporaryDirectory()
    let steps = makeSteps(600)
    let (name, file) = try await leave(steps, in: directory)
    // The next segment was created, but nothing was written to it.
    let number = try #require(Int(file.suffix(13).prefix(6)))
    let next = file.dropLast(13) + String("00000\(number + 1)".suffix(6)) + ".ndjson"
    try write([], to: String(next))
    let library = try RecordingLibrary(in: directory, settings: .small)
    defer { library.close() }
    #expect(try await library.list().first?.state == .interrupted)
    #expect(try await library.steps(of: name) == steps)
  }

  @Test
  func `a recording is listed even if less than one complete line of it is left`()
    async throws
  {
    let directory = TemporaryDirectory()
    let (name, _) = try await leave(makeSteps(600), in: directory)
    let folder = directory.recordings + "/" + name
    let second = try bytes(folder + "/000002.ndjson")
    let first = try bytes(folder + "/000001.ndjson").prefix(30)
    try directory.empty()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try write(first, to: folder + "/000001.ndjson")
    let end = try #require(second.firstIndex(of: UInt8(ascii: "\n")))
    try write(second[...end], to: folder + "/000002.ndjson")
    for start in 1...2 {
      let library = try RecordingLibrary(in: directory, settings: .small)
      defer { library.close() }
      let found = try await library.list()
      #expect(found.map(\.name) == [name] && found.first?.state == .damaged, "start \(start)")
    }
  }
}
