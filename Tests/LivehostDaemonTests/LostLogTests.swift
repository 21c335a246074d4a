import ControlInterface
import Foundation
import LiveEvents
import LivehostDaemon
import Recordings
import Rooms
import TestSupport
import Testing

/// Rooms whose log was damaged while the daemon was not running, or which are not restored at
/// first.
@Suite(.timeLimit(.minutes(1))) struct LostLogTests {
  private let home = TemporaryDirectory()
  private var path: String { home.path + "/state" }
  private let other = RoomName("other") ?? .main
  private var segment: String { path + "/log/000001.ndjson" }
  private let files = FileManager.default

  /// Runs rooms in `path` and leaves the state directory as if the daemon had been killed at the
  /// end.
  private func run(
    maximumRooms: Int = 10, segmentBytes: Int = 32 << 20, _ body: (KeptRooms) async throws -> Void
  ) async throws {
    let rooms = try KeptRooms(in: path, segmentBytes: segmentBytes, maximumRooms: maximumRooms)
    await rooms.recordings.open()
    await rooms.restore()
    try await body(rooms)
    // A full segment saves the room after the log is synced.
    for _ in 0..<2 {
      await rooms.library.settle()
      await rooms.settle()
    }
    let copy = try rooms.kill()
    try await rooms.end()
    // Moves the directory away, because the log might still remove a segment there.
    try files.moveItem(atPath: path, toPath: "\(copy)before-\(UUID().uuidString)")
    try files.moveItem(atPath: copy, toPath: path)
  }

  /// Writes so many events of another room that the log is cut as far as possible.
  private func fill(_ rooms: KeptRooms) async throws {
    _ = try? rooms.directory.open(other)
    for round in 0..<20 {
      await rooms.send(round * 50..<(round + 1) * 50, to: other)
      await rooms.settle()
    }
  }

  @Test func `an unreadable segment is reported and kept, and only its own records are lost`()
    async throws
  {
    try await run { rooms in
      _ = try rooms.directory.open(.main)
      await rooms.send(0..<10)
    }
    let kept = path + ".kept"
    try files.moveItem(atPath: segment, toPath: kept)
    try files.createDirectory(atPath: segment, withIntermediateDirectories: false)
    try await run(segmentBytes: 4_000) { rooms in
      #expect(await rooms.count() == nil)
      let loss = try #require(rooms.store.problems.first)
      #expect(loss.text.contains("000001.ndjson") && loss.text.contains("make the file readable"))
      try await fill(rooms)
    }
    try files.removeItem(atPath: segment)
    try files.moveItem(atPath: kept, toPath: segment)
    try await run { rooms in
      #expect(await rooms.count() == 10)
      #expect(await rooms.count(other) == 1_000)
      #expect(rooms.store.problems == [])
    }
  }

  @Test func `events acknowledged while a segment is unreadable are restored afterwards`()
    async throws
  {
    try await run { rooms in
      _ = try rooms.directory.open(.main)
      await rooms.send(0..<50)
    }
    try await run { rooms in await rooms.send(50..<60) }
    let unreadable = path + "/log/000002.ndjson"
    try files.moveItem(atPath: unreadable, toPath: path + "+kept")
    try files.createDirectory(atPath: unreadable, withIntermediateDirectories: false)
    try await run { rooms in
      #expect(await rooms.count() == 50)
      await rooms.send(100..<110)
    }
    try files.removeItem(atPath: unreadable)
    try files.moveItem(atPath: path + "+kept", toPath: unreadable)
    try await run { rooms in
      #expect(await rooms.count() == 60)
      let newest = await rooms.lane.report(.main)?.features.chat?.messages.last
      #expect(newest?.text == "number 109")
    }
  }

  enum Spoiling: CaseIterable { case removed, emptied, zeroed, header }

  @Test(arguments: Spoiling.allCases)
  func `a newest segment that lacks synced records is reported`(_ spoiling: Spoiling) async throws {
    try await run { rooms in
      _ = try rooms.directory.open(.main)
      await rooms.send(0..<10)
    }
    let bytes = try Data(contentsOf: URL(filePath: segment))
    switch spoiling {
    case .removed: try files.removeItem(atPath: segment)
    case .emptied: try Data().write(to: URL(filePath: segment))
    case .zeroed: try Data(count: bytes.count).write(to: URL(filePath: segment))
    case .header:
      let end = try #require(bytes.firstIndex(of: UInt8(ascii: "\n")))
      try bytes[...end].write(to: URL(filePath: segment))
    }
    // The first start may be killed before anyone has seen its report.
    for start in 1...2 {
      try await run { rooms in
        #expect(await rooms.count() == nil)
        #expect(
          rooms.store.problems.contains { $0.text.contains("segment 1 of the log") },
          "start \(start): \(rooms.store.problems)")
      }
    }
    try await run { rooms in
      _ = try rooms.directory.open(other)
      await rooms.send(0..<10, to: other)
    }
    try await run { rooms in #expect(await rooms.count(other) == 10) }
  }

  @Test func `a newest segment with nothing but its header is not reported as lost`()
    async throws
  {
    var last = 0
    try await run(segmentBytes: 4_000) { rooms in
      _ = try rooms.directory.open(.main)
      // Each send is a group commit; one of them begins a segment and writes only its header.
      for number in 0..<100 where last < 2 {
        await rooms.send(number..<number + 1)
        last = try files.contentsOfDirectory(atPath: path + "/log").count
      }
    }
    #expect(last == 2)
    try await run { rooms in #expect(rooms.store.problems == []) }
  }

  @Test func `a segment with the number of another segment is skipped`() async throws {
    try await run { rooms in
      _ = try rooms.directory.open(.main)
      #expect(await rooms.directory.close(.main))
      _ = try rooms.directory.open(.main)
      #expect(await rooms.directory.close(.main))
    }
    let foreign = try Data(contentsOf: URL(filePath: segment))
    try files.removeItem(atPath: path)
    try await run { rooms in
      _ = try rooms.directory.open(.main)
      await rooms.send(0..<10)
    }
    try foreign.write(to: URL(filePath: path + "/log/000002.ndjson"))
    try await run { rooms in
      #expect(await rooms.count() == 10)
      #expect(rooms.log.contain("000002.ndjson is left out: its header names segment 1"))
    }
  }

  @Test func `log records with a mark of an invalid room are reported without a room`() async throws
  {
    try await run { rooms in
      let log = rooms.library.log("main") {}
      var batch = RecordedBatch()
      batch.addMark(LogMark(room: "", sequence: log.nextSequence(), after: 0))
      await withCheckedContinuation { continuation in
        batch.whenSynced { continuation.resume() }
        log.post(batch)
      }
    }
    try await run { rooms in
      #expect(rooms.store.problems.map(\.text).contains { $0.contains("name is invalid") })
      #expect(!rooms.store.problems.contains { $0.text.hasPrefix("room ") })
    }
  }

  @Test func `a segment of another log is skipped even if it has the expected number`() async throws
  {
    try await run { rooms in
      _ = try rooms.directory.open(other)
      await rooms.send(0..<5, to: other)
    }
    let foreign = try Data(contentsOf: URL(filePath: segment))
    try files.removeItem(atPath: path)
    try await run { rooms in
      _ = try rooms.directory.open(.main)
      await rooms.send(0..<10)
    }
    try foreign.write(to: URL(filePath: segment))
    try await run { rooms in
      #expect(await rooms.count(other) == nil)
      #expect(rooms.log.contain("000001.ndjson is left out: it belongs to another log"))
      #expect(rooms.store.problems.contains { $0.text.contains("it belongs to another log") })
      _ = try rooms.directory.open(.main)
      await rooms.send(0..<7)
    }
    // Without the note that identifies the log, the newest segments count.
    for name in ["log.json", "log.json.previous"] where files.fileExists(atPath: "\(path)/\(name)")
    {
      try files.removeItem(atPath: "\(path)/\(name)")
    }
    try await run { rooms in #expect(await rooms.count() == 7) }
  }

  @Test
  func `a damaged note of the newest segment is reported, and the log is still recognised`()
    async throws
  {
    try await run { rooms in
      _ = try rooms.directory.open(.main)
      await rooms.send(0..<10)
    }
    let note = URL(filePath: "\(path)/log.json")
    let bytes = try Data(contentsOf: note)
    // Changes one byte, then a second one that hides the checksum.
    let checksum = try #require(bytes.lastIndex(of: UInt8(ascii: ",")))
    let start = try #require(bytes.range(of: Data(#""startedAt":"#.utf8))).upperBound
    for places in [[start], [start, checksum + 1]] {
      var spoiled = bytes
      for place in places { spoiled[place] ^= 1 }
      try spoiled.write(to: note)
      try await run { rooms in
        #expect(await rooms.count() == 10)
        #expect(rooms.log.contain("names its newest segment is damaged"))
      }
    }
  }

  @Test func `all rooms are restored even if the maximum is lower now`() async throws {
    let names = try ["a", "b", "c"].map { try #require(RoomName($0)) }
    try await run { rooms in
      for name in names {
        _ = try rooms.directory.open(name)
        await rooms.send(0..<10, to: name)
      }
    }
    try await run(maximumRooms: 2) { rooms in
      for name in names { #expect(await rooms.count(name) == 10) }
      #expect(throws: RoomDirectory.Refusal.tooMany) { _ = try rooms.directory.open(.main) }
    }
  }

  @Test func `a room that was set aside is restored completely once its file is renamed back`()
    async throws
  {
    try await run { rooms in
      _ = try rooms.directory.open(.main)
      await rooms.send(0..<10)
    }
    let state = path + "/rooms/main.json"
    try files.createDirectory(atPath: path + "/rooms", withIntermediateDirectories: true)
    try Data("main 2".utf8).write(to: URL(filePath: path + "/rooms/restoring"))
    for _ in 1...2 {
      try await run(segmentBytes: 4_000) { rooms in
        #expect(await rooms.count() == nil)
        #expect(rooms.store.problems.map(\.room) == ["main"])
        try await fill(rooms)
      }
    }
    try files.moveItem(atPath: state + ".set-aside", toPath: state)
    try await run { rooms in #expect(await rooms.count() == 10) }
  }

  @Test func `the log is not kept for a room that cannot be restored`() async throws {
    try await run(segmentBytes: 4_000) { rooms in
      _ = try rooms.directory.open(.main)
      try await fill(rooms)
      await rooms.send(0..<10)
    }
    for name in try files.contentsOfDirectory(atPath: path + "/rooms")
    where name.hasPrefix("main.json") {
      try Data("x".utf8).write(to: URL(filePath: path + "/rooms/" + name))
    }
    // The log record of its opening has been removed too.
    let first = try #require(try files.contentsOfDirectory(atPath: path + "/log").min())
    #expect(first != "000001.ndjson")
    try await run(segmentBytes: 4_000) { rooms in
      #expect(await rooms.count() == nil)
      #expect(rooms.store.problems.map(\.room) == ["main"])
      try await fill(rooms)
    }
    #expect(try files.contentsOfDirectory(atPath: path + "/log").min() ?? "" > first)
  }

  @Test(arguments: [true, false])
  func `a damaged recording is completed from the log, or else its room loses nothing`(
    isItsEnd: Bool
  ) async throws {
    var recording = ""
    try await run { rooms in
      _ = try rooms.directory.open(.main)
      recording = try await rooms.recordings.start(.main, on: rooms.lane).recording
      await rooms.send(0..<200)
      await rooms.library.settle()
    }
    let url = URL(filePath: "\(path)/recordings/\(recording)/000001.ndjson")
    var bytes = try Data(contentsOf: url)
    let place = try #require(
      bytes.range(of: Data((isItsEnd ? "number 199" : #""room""#).utf8))?.lowerBound)
    bytes[place] ^= 1
    try bytes.write(to: url)
    try await run { rooms in
      #expect(await rooms.count() == 200)
      await rooms.send(200..<210)
      if isItsEnd { _ = try await rooms.recordings.stop(.main, on: rooms.lane) }
      let list = try await rooms.recordings.list(.main).recordings
      let spoiled = try #require(list.first { $0.recording == recording })
      #expect(spoiled.state == (isItsEnd ? .finished : .damaged))
      #expect(spoiled.events == (isItsEnd ? 210 : 0))
    }
    try await run { rooms in
      #expect(await rooms.count() == 210)
      #expect(rooms.store.problems == [])
    }
  }
}
