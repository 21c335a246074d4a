import ControlInterface
import FileSystem
import Foundation
import HostScreen
import Ingest
import LiveEvents
import LivehostDaemon
import Recordings
import Rooms
import SimulatedDisk
import Synchronization
import TestSupport
import Testing
import WireFormats

/// Idle rooms hibernate, and a stop relies on the log for rooms that are not saved.
@Suite(.timeLimit(.minutes(2))) struct HibernatedRoomTests {
  private let home = TemporaryDirectory()
  private var path: String { home.path + "/state" }
  private let other = RoomName("other") ?? .main

  private var settings: RoomSettings {
    var settings = RoomSettings()
    settings.hibernatesAfter = .milliseconds(1)
    return settings
  }

  /// Returns the rooms that the next run restores after a kill.
  private func successor(of run: KeptRooms) async throws -> KeptRooms {
    let next = try KeptRooms(in: try run.kill(), settings: settings)
    try await run.end()
    await next.restore()
    return next
  }

  private func send(
    _ numbers: Range<Int>, to run: KeptRooms, as sequence: Int
  ) async -> Int {
    await withCheckedContinuation { continuation in
      run.lane.post(
        RoomDelivery(
          room: .main, events: KeptRooms.messages(numbers),
          receipt: DeliveryReceipt { rejected, _ in continuation.resume(returning: rejected) },
          position: BatchPosition(source: "irc", sequence: sequence)))
    }
  }

  @Test func `an idle room hibernates, keeps its counts, and looks the same to every reader`()
    async throws
  {
    let run = try KeptRooms(in: path, settings: settings)
    _ = try run.directory.open(.main)
    #expect(await send(0..<50, to: run, as: 1) == 0)
    _ = try await run.lane.act(.control(.set(control: "gain", value: 0.5)), in: .main).get()
    let before = try #require(await run.lane.report(.main))
    let counts = await run.lane.counts()
    await run.hibernations.wait(for: .main)
    #expect(await run.lane.hibernatedCount() == 1)
    // Queries about all rooms wake no hibernated room.
    #expect(await run.lane.counts() == counts && counts.isConserved)
    #expect(await run.lane.summaries().map(\.counters) == [before.counters])
    #expect(await run.lane.metrics().map(\.counts.received) == [50])
    #expect(await run.lane.sources().isEmpty)
    #expect(await run.lane.hibernatedCount() == 1)
    let after = try #require(await run.lane.report(.main))
    #expect(after.features.chat?.messages == before.features.chat?.messages)
    #expect(after.features.chat?.topChatters == before.features.chat?.topChatters)
    #expect(after.features.control?.values == ["gain": 0.5])
    #expect(after.counters == before.counters)
    #expect(await run.lane.counts() == counts)
    try await run.end()
  }

  @Test func `a hibernated room accepts new events and rejects repeated events`() async throws {
    let run = try KeptRooms(in: path, settings: settings)
    _ = try run.directory.open(.main)
    #expect(await send(0..<50, to: run, as: 7) == 0)
    for round in 1...2 {
      await run.hibernations.wait(for: .main)
      // The sent events are repeated by identifier, repeated by position, and new.
      #expect(await send(20..<50, to: run, as: 7 + round) == 30)
      await run.hibernations.wait(for: .main)
      #expect(await send(100..<150, to: run, as: 7) == 50)
      await run.hibernations.wait(for: .main)
      #expect(await run.lane.positions(of: .main) == ["irc": 7 + round])
      #expect(await run.count() == 50)
    }
    await run.hibernations.wait(for: .main)
    #expect(await send(50..<60, to: run, as: 100) == 0)
    #expect(await run.count() == 60)
    #expect(run.hibernations.count(.main) == 7)
    #expect(await run.lane.counts().isConserved)
    try await run.end()
  }

  @Test
  func
    `a kill loses nothing, whether a room hibernates, has woken, or was saved while hibernating`()
    async throws
  {
    var run = try KeptRooms(in: path, settings: settings)
    for room in [RoomName.main, other] { _ = try run.directory.open(room) }
    for life in 0..<3 {
      #expect(await send(life * 20..<life * 20 + 10, to: run, as: 2 * life + 1) == 0)
      await run.hibernations.wait(for: .main)
      #expect(await send(life * 20 + 10..<life * 20 + 20, to: run, as: 2 * life + 2) == 0)
      if life != 1 { await run.hibernations.wait(for: .main) }
      run = try await successor(of: run)
      #expect(await run.count() == (life + 1) * 20)
      #expect(run.store.problems == [] && !run.log.contain("does not continue"), "\(run.log.all)")
    }
    // The next run follows an orderly stop instead of a kill.
    await run.hibernations.wait(for: .main)
    try await run.end()
    run = try KeptRooms(in: run.path, settings: settings)
    await run.restore()
    #expect(await run.count() == 60)
    #expect(await run.lane.positions(of: .main) == ["irc": 6])
    try await run.end()
  }

  @Test func `a room that is recorded, or has pending requests, does not hibernate`() async throws {
    let run = try KeptRooms(in: path, settings: settings)
    for room in [RoomName.main, other] { _ = try run.directory.open(room) }
    _ = try await run.recordings.start(.main, on: run.lane)
    #expect(await send(0..<10, to: run, as: 1) == 0)
    // All rooms are examined together: the other room was idle when it hibernated for the second
    // time.
    await run.hibernations.wait(for: other)
    #expect(await run.count(other) == 0)
    await run.hibernations.wait(for: other)
    #expect(run.hibernations.count(.main) == 0)
    #expect(try await run.recordings.stop(.main, on: run.lane).events == 10)
    await run.hibernations.wait(for: .main)
    #expect(await run.count() == 10)
    try await run.end()
  }

  @Test func `a hibernated room can be closed like any other`() async throws {
    let run = try KeptRooms(in: path, settings: settings)
    _ = try run.directory.open(.main)
    #expect(await send(0..<10, to: run, as: 1) == 0)
    await run.hibernations.wait(for: .main)
    #expect(await run.directory.close(.main))
    #expect(await run.lane.counts().received == 10)
    let next = try await successor(of: run)
    #expect(await next.count() == nil)
    try await next.end()
  }

  @Test func `the log is cut after the snapshot of a hibernated room, without waking the room`()
    async throws
  {
    let run = try KeptRooms(in: path, segmentBytes: 20_000, settings: settings)
    for room in [RoomName.main, other] { _ = try run.directory.open(room) }
    #expect(await send(0..<10, to: run, as: 1) == 0)
    await run.hibernations.wait(for: .main)
    let count = run.hibernations.count(.main)
    let first = path + "/log/000001.ndjson"
    var round = 0
    while FileManager.default.fileExists(atPath: first) {
      await run.send(round * 100..<round * 100 + 100, to: other)
      await run.settle()
      round += 1
    }
    #expect(run.hibernations.count(.main) == count)
    let next = try await successor(of: run)
    #expect(await next.count() == 10)
    #expect(await next.count(other) == round * 100)
    try await next.end()
  }

  @Test
  func `a stop saves no snapshot of a room if many rooms wait for the disk and the log suffices`()
    async throws
  {
    let first = try KeptRooms(in: path, mostWaiting: 0)
    for room in [RoomName.main, other] { _ = try first.directory.open(room) }
    await first.send(0..<10)
    // These are too many events to replay at each start.
    await first.send(0..<3_000, to: other)
    let report = await first.lane.report(.main)
    try await first.end()
    let files = { try FileManager.default.contentsOfDirectory(atPath: path + "/rooms") }
    #expect(try files() == ["other.json"])
    for start in 1...2 {
      let next = try KeptRooms(in: path, mostWaiting: 0)
      await next.restore()
      #expect(await next.count(other) == 3_000)
      let restored = await next.lane.report(.main)
      #expect(restored?.features.chat?.messages == report?.features.chat?.messages)
      #expect(restored?.counters == report?.counters)
      #expect(
        next.store.problems == [] && !next.log.contain("does not continue"), "\(next.log.all)")
      try await next.end()
      // When the third segment of the log begins, the room must be saved so that the first can be
      // removed.
      if start == 1 { #expect(try files() == ["other.json"]) }
    }
  }

  @Test func `a stop saves a snapshot if the last events cannot be logged`() async throws {
    let disk = SimulatedDisk()
    try disk.makeDirectory("/state")
    let run = try KeptRooms(in: "/state", on: disk, mostWaiting: 0)
    _ = try run.directory.open(.main)
    await run.send(0..<10)
    disk.decide { $0.operation == .sync && $0.path.contains("/log/") ? .error(EIO) : nil }
    try await run.end()
    disk.decide { _ in nil }
    #expect(disk.contents(of: "/state/rooms/main.json") != nil)
  }
}
