import ControlInterface
import FileSystem
import Foundation
import Glibc
import Ingest
import LiveEvents
import LivehostDaemon
import NIOCore
import NIOPosix
import Recordings
import Rooms
import SimulatedDisk
import Synchronization
import TestSupport
import Testing
import WireFormats

/// What rooms recover from the log that all of them share.
@Suite(.timeLimit(.minutes(5))) struct RoomLogTests {
  private let home = TemporaryDirectory()
  private var path: String { home.path + "/state" }
  private let other = RoomName("other") ?? .main

  /// Returns the rooms that the next run restores after a kill.
  private func successor(of run: KeptRooms) async throws -> KeptRooms {
    let next = try KeptRooms(in: try run.kill())
    try await run.end()
    await next.restore()
    return next
  }

  @Test func `acknowledged events survive each kill, at first without any snapshot`()
    async throws
  {
    var run = try KeptRooms(in: path)
    for (index, room) in [RoomName.main, other].enumerated() {
      _ = try run.directory.open(room)
      await run.send(0..<20 + index, to: room)
    }
    for life in 1...3 {
      run = try await successor(of: run)
      // A snapshot is due later, because each run begins another segment.
      if life == 1 {
        #expect(!FileManager.default.fileExists(atPath: run.path + "/rooms/main.json"))
      }
      #expect(await run.count() == life * 20)
      #expect(await run.count(other) == 21)
      await run.send(life * 20..<(life + 1) * 20)
    }
    #expect(
      run.log.all.allSatisfy {
        !$0.contains("does not continue its state") && !$0.contains("damaged")
      })
    try await run.end()
  }

  @Test func `a new room with a closed room's name starts empty`() async throws {
    let first = try KeptRooms(in: path)
    for room in [RoomName.main, other] {
      _ = try first.directory.open(room)
      await first.send(0..<20, to: room)
      #expect(await first.directory.close(room))
    }
    _ = try first.directory.open(other)
    await first.send(0..<5, to: other)
    let second = try await successor(of: first)
    #expect(await second.count() == nil)
    #expect(await second.count(other) == 5)
    #expect(await second.directory.close(other))
    let third = try await successor(of: second)
    #expect(await third.lane.summaries().isEmpty)
    try await third.end()
  }

  @Test func `no event is lost when a recording begins or ends`() async throws {
    var run = try KeptRooms(in: path)
    _ = try run.directory.open(.main)
    await run.send(0..<10)
    _ = try await run.recordings.start(.main, on: run.lane)
    await run.send(10..<20)
    run = try await successor(of: run)
    #expect(await run.count() == 20)
    await run.send(20..<30)
    #expect(try await run.recordings.stop(.main, on: run.lane).events == 20)
    await run.send(30..<40)
    run = try await successor(of: run)
    #expect(await run.count() == 40)
    #expect(try await run.recordings.list(.main).recordings.map(\.state) == [.finished])
    #expect(await run.lane.report(.main)?.features.recorder?.state == .idle)
    await run.send(40..<50)
    run = try await successor(of: run)
    #expect(await run.count() == 50)
    try await run.end()
  }

  @Test
  func
    `a recording that begins in a restored room does not follow records that the room replayed`()
    async throws
  {
    var run = try KeptRooms(in: path)
    _ = try run.directory.open(.main)
    await run.send(0..<10)
    run = try await successor(of: run)
    await run.send(10..<20)
    _ = try await run.recordings.start(.main, on: run.lane)
    await run.send(20..<30)
    run = try await successor(of: run)
    #expect(await run.count() == 30)
    try await run.end()
  }

  @Test
  func `a room that opens while its namesake closes keeps its part of the log`()
    async throws
  {
    var run = try KeptRooms(in: path, segmentBytes: 4_000)
    _ = try run.directory.open(.main)
    await run.send(0..<10)
    // The new room opens before the old room is removed from the disk.
    await withCheckedContinuation { continuation in
      run.lane.postClosing(of: .main) { _ in continuation.resume() }
      run.lane.postOpening(of: .main)
    }
    _ = try run.directory.open(other)
    await run.send(0..<5)
    for number in 0..<30 { await run.send(number * 10..<number * 10 + 10, to: other) }
    await run.settle()
    run = try await successor(of: run)
    #expect(await run.count() == 5)
    #expect(await run.count(other) == 300)
    try await run.end()
  }

  /// Plays a recording of `main` into ``other``. The replay waits before a step until it is
  /// cancelled.
  private func play(in run: KeptRooms) async throws -> Task<Void, Never> {
    let recording = try await run.recordings.start(.main, on: run.lane).recording
    await run.send(0..<3)
    _ = try await run.recordings.stop(.main, on: run.lane)
    let replay = Replay(
      try await run.library.files(of: recording), into: other, on: run.lane, speed: 0.001)
    let (waiting, waits) = AsyncStream.makeStream(of: Void.self)
    let playing = Task {
      _ = try? await replay.run(sleep: { _ in
        waits.yield()
        try await untilCancelled()
      })
    }
    for await _ in waiting { break }
    return playing
  }

  @Test
  func `events held at the start of a recording are kept, even while another recording is played`()
    async throws
  {
    var run = try KeptRooms(in: path)
    for room in [RoomName.main, other] { _ = try run.directory.open(room) }
    let playing = try await play(in: run)
    // The events are held because only the recording draws frames.
    run.lane.post(RoomDelivery(room: other, events: KeptRooms.messages(0..<10)))
    _ = try await run.recordings.start(other, on: run.lane)
    let copy = try run.kill()
    playing.cancel()
    await playing.value
    try await run.end()
    run = try KeptRooms(in: copy)
    await run.restore()
    #expect(try #require(await run.count(other)) >= 10)
    try await run.end()
  }

  @Test
  func
    `a sender whose events miss a snapshot waits for the next one, not for the end of the replay`()
    async throws
  {
    let disk = SimulatedDisk()
    let run = try KeptRooms(in: path, on: disk)
    for room in [RoomName.main, other] { _ = try run.directory.open(room) }
    let playing = try await play(in: run)
    disk.decide { call in
      // Only snapshots can save the rooms.
      if call.path.contains("/state/log/") { return .error(EIO) }
      return call.operation == .create && call.path.hasSuffix("other.json.new") ? .never : nil
    }
    let (kept, keeps) = AsyncStream.makeStream(of: String?.self)
    func post(_ numbers: Range<Int>) {
      run.lane.post(
        RoomDelivery(
          room: other, events: KeptRooms.messages(numbers), clock: .event,
          receipt: DeliveryReceipt { keeps.yield($1) }))
    }
    post(0..<5)
    await disk.hasCaught()
    // The snapshot that is being written lacks these events.
    post(5..<10)
    while await run.received(other) != 10 {
      try Task.checkCancellation()
      await Task.yield()
    }
    disk.decide { _ in nil }
    disk.release()
    var answers = 0
    for await failure in kept {
      #expect(failure == nil)
      answers += 1
      if answers == 2 { break }
    }
    playing.cancel()
    await playing.value
    try await run.end()
  }

  @Test func `a partial batch before damage ends the replay`() async throws {
    let first = try KeptRooms(in: path, segmentBytes: 16_000)
    _ = try first.directory.open(.main)
    for number in 0..<60 { await first.send(number..<number + 1) }
    let copy = try first.kill()
    try await first.end()
    let file = copy + "/log/000001.ndjson"
    var lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
    let last = try #require(
      lines.lastIndex { $0.contains(#""type":"frame""#) || $0.contains("chat.message") })
    lines[last] = "x" + lines[last].dropFirst()
    try (lines.joined(separator: "\n") + "\n").write(
      toFile: file, atomically: true, encoding: .utf8)
    let before = lines[..<last].count { $0.contains("chat.message") }
    let second = try KeptRooms(in: copy)
    await second.restore()
    #expect(await second.received() == before)
    #expect(second.log.contain("the log does not continue its state"))
    try await second.end()
  }

  @Test func `the log is cut after the snapshots, even if rooms are idle`() async throws {
    let first = try KeptRooms(in: path, segmentBytes: 100_000)
    for room in [RoomName.main, other] {
      _ = try first.directory.open(room)
      await first.send(0..<10, to: room)
    }
    var longest = 0
    for round in 0..<60 {
      await first.send(10 + round * 100..<110 + round * 100)
      await first.settle()
      longest = max(
        longest, try FileManager.default.contentsOfDirectory(atPath: path + "/log").count)
    }
    #expect(longest < 8)
    let names = try FileManager.default.contentsOfDirectory(atPath: path + "/log")
    #expect(!names.contains("000001.ndjson"))
    let second = try await successor(of: first)
    #expect(await second.count() == 6_010)
    #expect(await second.count(other) == 10)
    try await second.end()
  }

  @Test func `a changed byte in the log loses nothing before it and is reported`()
    async throws
  {
    let first = try KeptRooms(in: path)
    _ = try first.directory.open(.main)
    for number in 0..<8 { await first.send(number..<number + 1) }
    let copy = try first.kill()
    try await first.end()
    let file = copy + "/log/000001.ndjson"
    let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: file)))
    let marks = String(decoding: bytes, as: UTF8.self)
    #expect(marks.contains("segmentSynced"))
    let header = try #require(bytes.firstIndex(of: UInt8(ascii: "\n")))
    for offset in Array(0...header) + stride(from: header + 3, to: bytes.count, by: 97) {
      var rotten = bytes
      rotten[offset] ^= 1 << (offset % 8)
      let place = path + "++"
      try? FileManager.default.removeItem(atPath: place)
      try FileManager.default.createDirectory(
        atPath: place + "/log", withIntermediateDirectories: true)
      try Data(rotten).write(to: URL(fileURLWithPath: place + "/log/000001.ndjson"))
      let whole = String(decoding: bytes[..<offset], as: UTF8.self)
        .split(separator: "\n").dropLast().count { $0.contains("\"chat.message\"") }
      let next = try KeptRooms(in: place)
      await next.restore()
      let count = await next.received() ?? 0
      #expect(count <= 8 && count >= whole, "byte \(offset)")
      let isTold = next.log.contain("damaged")
      #expect(count == 8 || isTold, "byte \(offset)")
      try await next.end()
    }
  }

  @Test func `a truncated end of the log is reported with the affected rooms`() async throws {
    let first = try KeptRooms(in: path)
    for (index, room) in [RoomName.main, other].enumerated() {
      _ = try first.directory.open(room)
      await first.send(0..<10 + index, to: room)
    }
    let copy = try first.kill()
    try await first.end()
    let file = URL(filePath: copy + "/log/000001.ndjson")
    var bytes = try Data(contentsOf: file)
    // Removes the last mark and half of the line before it.
    let mark = try #require(
      bytes.range(of: Data(#"{"type":"segmentSynced""#.utf8), options: .backwards))
    bytes = bytes[..<(mark.lowerBound - 10)]
    try bytes.write(to: file)
    let second = try KeptRooms(in: copy)
    await second.restore()
    #expect(await second.count() == 10)
    let end = try #require(bytes.lastIndex(of: UInt8(ascii: "\n")))
    #expect(
      second.log.contain(
        "the write-ahead log: cutting off \(bytes.count - end - 1) bytes after line"))
    #expect(
      second.log.contain(
        "in segment 1, of other, which may not have been synced when the program ended"))
    #expect(!second.log.contain("damaged"))
    try await second.end()
  }

  @Test func `acts of the host do not count as received events after a crash`() async throws {
    var run = try KeptRooms(in: path)
    _ = try run.directory.open(.main)
    let counts = { (run: KeptRooms) in await run.lane.report(.main)?.counters }
    for isRecorded in [false, true] {
      if isRecorded { _ = try await run.recordings.start(.main, on: run.lane) }
      await run.send(0..<10)
      for value in [0.25, 0.5] {
        _ = try await run.lane.act(.control(.set(control: "gain", value: value)), in: .main).get()
      }
      await run.send(10..<20)
      let before = await counts(run)
      run = try await successor(of: run)
      #expect(await counts(run) == before)
      #expect(await run.lane.report(.main)?.features.control?.values["gain"] == 0.5)
    }
    try await run.end()
  }

  @Test func `an act, a closing or an outcome that cannot be saved is answered with the reason`()
    async throws
  {
    let disk = SimulatedDisk()
    try disk.makeDirectory("/state")
    let isBroken = Mutex(false)
    disk.decide { call in
      let isWrite = [.write, .sync, .create].contains { $0 == call.operation }
      return isWrite && isBroken.withLock { $0 } ? .error(ENOSPC) : nil
    }
    let run = try KeptRooms(in: "/state", on: disk)
    for room in [RoomName.main, other] { _ = try run.directory.open(room) }
    await run.send(0..<10)
    isBroken.withLock { $0 = true }
    let act = await run.lane.act(.control(.set(control: "gain", value: 0.5)), in: .main)
    guard case .failure(.recordingFailed("main", _)) = act else {
      Issue.record("\(act)")
      return
    }
    #expect(await run.lane.report(.main)?.features.control?.values["gain"] == 0.5)
    var failure: String?
    #expect(await run.directory.close(other, onFailure: { failure = $0 }))
    #expect(failure?.contains("No space left") == true)
    isBroken.withLock { $0 = false }
    // The log is retried a second later.
    repeat {
      _ = try await run.lane.act(.control(.set(control: "gain", value: 0.25)), in: .main).get()
    } while !run.recordings.problems.isEmpty
    failure = nil
    #expect(await run.directory.close(.main, onFailure: { failure = $0 }))
    #expect(failure == nil)
    try await run.end()
  }

  @Test
  func `a closing is answered with the reason if it is the first record that cannot be synced`()
    async throws
  {
    let disk = SimulatedDisk()
    try disk.makeDirectory("/state")
    let run = try KeptRooms(in: "/state", on: disk)
    _ = try run.directory.open(.main)
    await run.send(0..<10)
    disk.decide { $0.operation == .sync ? .error(EIO) : nil }
    var failure: String?
    #expect(await run.directory.close(.main, onFailure: { failure = $0 }))
    #expect(failure?.contains("cannot sync") == true)
    try await run.end()
  }

  @Test func `log records after damage are not replayed`() async throws {
    let first = try KeptRooms(in: path, segmentBytes: 16_000)
    _ = try first.directory.open(.main)
    for number in 0..<60 { await first.send(number..<number + 1) }
    let copy = try first.kill()
    try await first.end()
    let names = try FileManager.default.contentsOfDirectory(atPath: copy + "/log").sorted()
    try #require(names.count == 2)
    let contents = try names.map { try Data(contentsOf: URL(fileURLWithPath: "\(copy)/log/\($0)")) }
    let before = contents[..<1].reduce(0) { count, bytes in
      count + String(decoding: bytes, as: UTF8.self).split(separator: "chat.message").count - 1
    }
    var rotten = contents[0]
    rotten[rotten.count / 2] ^= 1
    try rotten.write(to: URL(fileURLWithPath: "\(copy)/log/\(names[0])"))
    let second = try KeptRooms(in: copy)
    await second.restore()
    let received = try #require(await second.received())
    #expect(received > 0 && received < before)
    #expect(second.log.contain("damaged in segment 1"))
    #expect(second.log.contain("the log does not continue its state"))
    // The room continues from that state.
    await second.send(60..<65)
    try await second.end()
    let third = try KeptRooms(in: copy)
    await third.restore()
    #expect(await third.received() == received + 5)
    try await third.end()
  }

  @Test
  func `log records after damage are not replayed at the next start either, in a recorded room`()
    async throws
  {
    let first = try KeptRooms(in: path, segmentBytes: 16_000)
    // The other room needs the first segment until it has been saved twice.
    for room in [other, .main] { _ = try first.directory.open(room) }
    await first.send(0..<1, to: other)
    for number in 0..<60 { await first.send(number..<number + 1) }
    _ = try await first.recordings.start(.main, on: first.lane)
    await first.send(60..<65)
    await first.settle()
    let copy = try first.kill()
    try await first.end()
    // Damages the last batch before others, and the only saved state of the room.
    try #require(try FileManager.default.contentsOfDirectory(atPath: copy + "/log").count > 1)
    for (file, text) in [("log/000001.ndjson", "chat.message"), ("rooms/main.json", "number")] {
      var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: "\(copy)/\(file)")))
      let place = try #require(bytes.ranges(of: Array(text.utf8)).last)
      bytes[place.lowerBound] ^= 1
      try Data(bytes).write(to: URL(fileURLWithPath: "\(copy)/\(file)"))
    }
    try? FileManager.default.removeItem(atPath: copy + "/rooms/main.json.previous")
    let second = try KeptRooms(in: copy, segmentBytes: 16_000)
    await second.restore()
    #expect(second.log.contain("the log does not continue its state"))
    let received = try #require(await second.received())
    #expect(received < 65)
    try await second.end()
    let third = try KeptRooms(in: copy, segmentBytes: 16_000)
    await third.restore()
    #expect(await third.received() == received)
    try await third.end()
  }

  @Test func `the closing of a room stays in the log until its saved state is removed`()
    async throws
  {
    let disk = SimulatedDisk()
    try disk.makeDirectory("/state")
    let run = try KeptRooms(in: "/state", on: disk, segmentBytes: 4_000)
    for room in [RoomName.main, other] { _ = try run.directory.open(room) }
    await run.send(0..<10)
    func segments() throws -> [String] { try disk.names(in: "/state/log").sorted() }
    let file = "/state/rooms/main.json"
    var sent = 0
    /// Fills segments with another room. Each of them saves the rooms, which then no longer need
    /// the log.
    func fillLog(until isDone: () throws -> Bool) async throws {
      while try !isDone() {
        try Task.checkCancellation()
        await run.send(sent..<sent + 30, to: other)
        await run.settle()
        sent += 30
      }
    }
    try await fillLog { disk.contents(of: file) != nil }
    let saves = Mutex(0)
    disk.decide { call in
      if call.operation == .rename, call.path.hasSuffix("other.json.new") {
        saves.withLock { $0 += 1 }
      }
      return call.operation == .remove && call.path == file ? .error(EIO) : nil
    }
    #expect(await run.directory.close(.main))
    let closing = try #require(try segments().last)
    try await fillLog { saves.withLock { $0 } >= 4 }
    #expect(disk.contents(of: file) != nil)
    #expect(try segments().contains(closing))
    disk.decide { _ in nil }
    try await fillLog { disk.contents(of: file) == nil }
    try await fillLog { try !segments().contains(closing) }
    try await run.end()
  }

  @Test func `records after a segment that lost its last lines are not replayed`() async throws {
    let first = try KeptRooms(in: path, segmentBytes: 16_000)
    _ = try first.directory.open(.main)
    for number in 0..<5 { await first.send(number * 30..<number * 30 + 30) }
    let copy = try first.kill()
    try await first.end()
    let file = copy + "/log/000001.ndjson"
    var lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
    // Keeps a part of the last batch. The segment alone does not show that records are missing.
    let isMark = { (line: Substring) in line.contains(#""sequence":"#) }
    let mark = try #require(
      lines.indices.last { index in
        let batch = lines[index...].prefix(20)
        return isMark(lines[index]) && batch.count == 20
          && !batch.dropFirst().contains(where: isMark)
      })
    lines.removeSubrange((mark + 6)...)
    try (lines.joined(separator: "\n") + "\n").write(
      toFile: file, atomically: true, encoding: .utf8)
    let left = lines.count { $0.contains("chat.message") }
    for _ in 1...2 {
      let run = try KeptRooms(in: copy)
      await run.restore()
      #expect(await run.received() == left)
      #expect(run.log.contain("the log does not continue its state"))
      // Without the state that was saved meanwhile, the log is as damaged as before.
      try await run.end()
      for name in ["main.json", "main.json.previous"] {
        try? FileManager.default.removeItem(atPath: "\(copy)/rooms/\(name)")
      }
    }
  }

  @Test func `a foreign recording adds no marks to the log`() async throws {
    let directory = path + "/recordings/main-forged"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let lines = [
      #"{"type":"recording","version":1,"name":"main-forged","room":"main","segment":1,"startedAt":1}"#,
      #"{"type":"change","at":0,"change":{"room":"main","sequence":1000000,"after":999999,"closed":true}}"#,
      #"{"type":"viewers","ts":1,"count":3,"at":10}"#,
      #"{"type":"frame","at":20,"flush":true}"#,
    ]
    try (lines.joined(separator: "\n") + "\n")
      .write(toFile: directory + "/000001.ndjson", atomically: true, encoding: .utf8)
    let first = try KeptRooms(in: path)
    for room in [RoomName.main, other] { _ = try first.directory.open(room) }
    await first.send(0..<10)
    let replay = Replay(
      try await first.library.files(of: "main-forged"), into: other, on: first.lane, speed: nil)
    #expect(try await replay.run().events == 1)
    await first.send(0..<1, to: other)
    await first.send(10..<20)
    let second = try await successor(of: first)
    #expect(await second.count() == 20)
    #expect(await second.count(other) == 1)
    try await second.end()
  }

  @Test func `a failing disk is reported, and everything is saved once it works again`()
    async throws
  {
    let disk = SimulatedDisk()
    try disk.makeDirectory("/state")
    let isBroken = Mutex(false)
    disk.decide { call in
      let isWrite = [.write, .sync, .create].contains { $0 == call.operation }
      return isWrite && isBroken.withLock { $0 } ? .error(ENOSPC) : nil
    }
    let first = try KeptRooms(in: "/state", on: disk, segmentBytes: 1_000)
    _ = try first.directory.open(.main)
    _ = try first.directory.open(other)
    await first.send(0..<10)
    await first.send(0..<10, to: other)
    isBroken.withLock { $0 = true }
    // Either the reason or a general failure: the log may fail before the sender is answered.
    #expect(await first.trySend(10..<20) != nil)
    #expect(await first.trySend(20..<30)?.contains("cannot be saved for the next start") == true)
    #expect(first.recordings.problems.map(\.part) == ["log"])
    isBroken.withLock { $0 = false }
    await first.send(30..<40)
    await first.send(10..<20, to: other)
    await first.send(40..<50)
    // The log is retried a second later.
    var late = 0
    while !first.recordings.problems.isEmpty {
      await first.send(20 + late..<21 + late, to: other)
      late += 1
    }
    disk.endProcess()
    try await first.end()
    disk.restart()
    let second = try KeptRooms(in: "/state", on: disk)
    await second.restore()
    #expect(await second.count() == 50)
    #expect(await second.count(other) == 20 + late)
    #expect(!second.log.contain("damaged"), "\(second.log.all)")
    try await second.end()
  }

  private func restored(on disk: SimulatedDisk) async throws -> KeptRooms {
    let run = try KeptRooms(in: "/state", on: disk, segmentBytes: 4_000)
    await run.recordings.open()
    await run.restore()
    return run
  }

  @Test
  func `a finished but unsynced segment of a killed run is synced before anything follows it`()
    async throws
  {
    for seed in 1...20 {
      let disk = SimulatedDisk(seed: UInt64(seed), pageBytes: 512)
      try disk.makeDirectory("/state")
      try disk.syncDirectory("/")
      let last = Array(#"{"type":"segmentEnd","#.utf8)
      disk.decide { call in
        guard call.operation == .sync, call.path.hasPrefix("/state/log/"),
          let line = disk.contents(of: call.path)?.split(separator: 10).last
        else { return nil }
        return line.starts(with: last) ? .processEnd : nil
      }
      var run = try await restored(on: disk)
      _ = try run.directory.open(.main)
      var sent = 0
      while !disk.hasEnded {
        sent += 3
        _ = await run.trySend(sent - 3..<sent)
      }
      try await run.end()
      disk.decide { _ in nil }
      disk.restart()
      run = try await restored(on: disk)
      let there = try #require(await run.received())
      await run.send(there..<there + 3)
      disk.losePower()
      try await run.end()
      disk.restart()
      run = try await restored(on: disk)
      #expect(await run.received() == there + 3, "seed \(seed)")
      #expect(!run.log.contain("damaged"), "seed \(seed)")
      try await run.end()
    }
  }

  /// Performs a run that ends with faults, and a run that continues with the unsynced files of the
  /// first. Everything that the second run acknowledges survives a power failure.
  private func goOn(
    seed: Int, after fault: @escaping @Sendable (DiskCall) -> DiskFault?
  ) async throws {
    let disk = SimulatedDisk(seed: UInt64(seed), pageBytes: 512)
    try disk.makeDirectory("/state")
    try disk.syncDirectory("/")
    disk.decide(fault)
    var run = try await restored(on: disk)
    _ = try run.directory.open(.main)
    for batch in 0..<8 where !disk.hasEnded { _ = await run.trySend(batch * 3..<batch * 3 + 3) }
    disk.endProcess()
    try await run.end()
    disk.restart()
    run = try await restored(on: disk)
    let there = await run.received() ?? 0
    if there == 0 { _ = try run.directory.open(.main) }
    await run.send(there..<there + 3)
    disk.losePower()
    try await run.end()
    disk.restart()
    run = try await restored(on: disk)
    #expect(await run.received() == there + 3, "seed \(seed)")
    #expect(!run.log.contain("damaged"), "seed \(seed)")
    try await run.end()
  }

  @Test
  func `data that failed syncs left only in memory is written again before anything follows it`()
    async throws
  {
    for seed in 1...40 {
      try await goOn(seed: seed) { call in
        let isAffected =
          call.operation == .sync || call.operation == .truncate && seed % 2 == 0
        return isAffected && call.number > 10 + seed ? .error(EIO) : nil
      }
    }
  }

  @Test func `a snapshot with an unsynced name after a kill is not lost before the next snapshot`()
    async throws
  {
    for seed in 1...20 {
      try await goOn(seed: seed) { call in
        if call.operation == .write, call.path.hasPrefix("/state/log/") { return .error(ENOSPC) }
        let isLate = call.operation == .syncDirectory && call.number > 40 + seed
        return isLate && call.path == "/state/rooms" ? .processEnd : nil
      }
    }
  }

  @Test func `log records after a lost record are not replayed without it`()
    async throws
  {
    let disk = SimulatedDisk(seed: 1)
    try disk.makeDirectory("/state")
    try disk.syncDirectory("/")
    var run = try await restored(on: disk)
    for room in [RoomName.main, other] { _ = try run.directory.open(room) }
    await run.send(0..<20)
    let isLogBroken = Mutex(true)
    disk.decide { call in
      let isLog = call.path.hasPrefix("/state/log/") && isLogBroken.withLock { $0 }
      return isLog || call.path.hasPrefix("/state/rooms/") ? .error(EMFILE) : nil
    }
    // Neither the log nor a snapshot contains these events.
    #expect(await run.trySend(20..<30) != nil)
    isLogBroken.withLock { $0 = false }
    // The log is retried a second later, and only the log contains the later events.
    repeat {
      #expect(await run.trySend(30..<40) != nil)
    } while !run.recordings.problems.isEmpty
    #expect(await run.trySend(40..<50) != nil)
    await run.library.settle()
    disk.losePower()
    try await run.end()
    disk.restart()
    run = try await restored(on: disk)
    #expect(await run.received() == 20)
    #expect(run.log.contain("the latest changes of room main are lost"))
    await run.send(20..<40)
    disk.losePower()
    try await run.end()
    disk.restart()
    run = try await restored(on: disk)
    #expect(await run.received() == 40)
    #expect(!run.log.contain("the latest changes"))
    try await run.end()
  }

  @Test(arguments: [DiskFault.powerLoss, .processEnd])
  func `a crash before any system call preserves acknowledged events, with or without a recording`(
    _ fault: DiskFault
  )
    async throws
  {
    var (number, hasCrashed) = (1, true)
    while hasCrashed {
      number += 3
      let crash = number
      let disk = SimulatedDisk(seed: UInt64(number), pageBytes: 512)
      try disk.makeDirectory("/state")
      try disk.syncDirectory("/")
      disk.decide { $0.number == crash ? fault : nil }
      var acknowledged = 0
      var sent = 0
      for life in 0..<3 {
        let crashes = disk.counts
        var run = try await restored(on: disk)
        if disk.counts != crashes {
          // The crash happened during the recovery, which the next run repeats.
          try await run.end()
          disk.restart()
          run = try await restored(on: disk)
        }
        let there = await run.received() ?? 0
        #expect(
          (acknowledged...sent).contains(there),
          "\(there) of \(sent), \(acknowledged) acknowledged: crash at \(crash), life \(life)")
        (sent, acknowledged) = (there, there)
        if await run.count() == nil { _ = try? run.directory.open(.main) }
        for step in 0..<6 {
          sent += 3
          if await run.trySend(sent - 3..<sent) == nil { acknowledged = sent }
          if step == 1 { _ = try? await run.recordings.start(.main, on: run.lane) }
          if step == 3 { _ = try? await run.recordings.stop(.main, on: run.lane) }
        }
        if life > 0 { disk.losePower() }
        try await run.end()
        hasCrashed = disk.calls >= crash
        disk.restart()
      }
    }
    #expect(number > 60)
  }
}
