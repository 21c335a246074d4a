import ControlInterface
import Foundation
import Ingest
import LiveEvents
import Recordings
import Rooms
import TestSupport
import Testing
import WireFormats

/// Rooms reject repeated events, by the identifiers of messages and notices and by batch positions.
@Suite(.timeLimit(.minutes(2))) struct KnownEventTests {
  private let home = TemporaryDirectory()
  private var path: String { home.path + "/state" }

  /// Sends events with time stamps of arrival or of their own, and returns the number of rejected
  /// events.
  private func send(
    _ events: [LiveEvent], to run: KeptRooms, clock: FrameClock = .arrival,
    position: BatchPosition? = nil
  ) async -> Int {
    await withCheckedContinuation { continuation in
      run.lane.post(
        RoomDelivery(
          room: .main, events: events, clock: clock,
          receipt: DeliveryReceipt { rejected, failure in
            #expect(failure == nil)
            continuation.resume(returning: rejected)
          }, position: position))
    }
  }

  private func send(
    _ numbers: Range<Int>, to run: KeptRooms, clock: FrameClock = .arrival, as sequence: Int? = nil
  ) async -> Int {
    await send(
      KeptRooms.messages(numbers), to: run, clock: clock,
      position: sequence.map { BatchPosition(source: "irc", sequence: $0) })
  }

  private func successor(of run: KeptRooms) async throws -> KeptRooms {
    let next = try KeptRooms(in: try run.kill())
    try await run.end()
    await next.restore()
    return next
  }

  /// Restarts after an orderly stop, which saves the rooms.
  private func restarted(_ run: KeptRooms) async throws -> KeptRooms {
    try await run.end()
    let next = try KeptRooms(in: run.path)
    await next.restore()
    return next
  }

  @Test(arguments: [FrameClock.arrival, .event])
  func `a message whose identifier is known is rejected as a duplicate, also after a kill`(
    clock: FrameClock
  ) async throws {
    var run = try KeptRooms(in: path)
    _ = try run.directory.open(.main)
    #expect(await send(0..<10, to: run, clock: clock) == 0)
    #expect(await send(5..<15, to: run, clock: clock) == 5)
    var report = try #require(await run.lane.report(.main))
    #expect(report.rejectedByReason == ["duplicate": 5])
    #expect(report.counters.received == 20)
    #expect(report.counters.applied == 15)
    for life in 0..<3 {
      run = try await successor(of: run)
      if life == 1 {
        // The snapshot also restores the identifiers.
        run = try await restarted(run)
      }
      #expect(await run.count() == 15)
      #expect(await send(0..<15, to: run, clock: clock) == 15)
    }
    report = try #require(await run.lane.report(.main))
    #expect(report.rejectedByReason == ["duplicate": 5 + 3 * 15])
    try await run.end()
  }

  @Test func `notices with a known identifier are duplicates, and events without one never are`()
    async throws
  {
    let run = try KeptRooms(in: path)
    _ = try run.directory.open(.main)
    func raid(_ id: Text?) -> LiveEvent {
      LiveEvent(
        timestamp: 1_700_000_000_000,
        payload: .chat(
          .notice(
            ChatNotice(kind: .raid, user: Person(id: "a", name: "Ann"), count: 3, id: id))))
    }
    #expect(await send([raid("n"), raid(nil), raid("n"), raid(nil)], to: run) == 1)
    #expect(await run.lane.report(.main)?.features.chat?.notices == 3)
    try await run.end()
  }

  @Test func `a replay neither checks nor stores the identifiers of events`()
    async throws
  {
    var run = try KeptRooms(in: path)
    _ = try run.directory.open(.main)
    _ = try await run.recordings.start(.main, on: run.lane)
    #expect(await send(0..<10, to: run) == 0)
    #expect(await send(0..<10, to: run, as: 4) == 10)
    let recording = try await run.recordings.stop(.main, on: run.lane)
    let copy = try #require(RoomName("copy"))
    _ = try run.directory.open(copy)
    // Plays the recording twice: the second time, every identifier would be known.
    for times in 1...2 {
      let replay = Replay(
        try await run.library.files(of: recording.recording), into: copy, on: run.lane, speed: nil,
        start: 0)
      _ = try await replay.run(sleep: { _ in }, now: { 0 }, progress: { _ in })
      #expect(await run.count(copy) == 10 * times)
    }
    // Nobody waits for the disk during a replay, and the kill must not lose its events.
    await run.send(0..<0, to: copy)
    for _ in 0..<2 {
      #expect(await run.lane.positions(of: copy) == [:])
      run = try await successor(of: run)
      #expect(await run.count(copy) == 20)
    }
    // The room therefore accepts these events from a source.
    await run.send(0..<10, to: copy)
    #expect(await run.count(copy) == 30)
    await run.send(0..<10, to: copy)
    #expect(await run.count(copy) == 30)
    try await run.end()
  }

  @Test func `a batch that the room has already applied is rejected, also after a kill`()
    async throws
  {
    var run = try KeptRooms(in: path)
    _ = try run.directory.open(.main)
    let viewers = { (count: Int) in
      [LiveEvent(timestamp: 1_700_000_000_000, payload: .header(.viewers(count: count)))]
    }
    func send(_ count: Int, as sequence: Int, of source: Text = "irc") async -> Int {
      await self.send(
        viewers(count), to: run, position: BatchPosition(source: source, sequence: sequence))
    }
    #expect(await send(1, as: 7) == 0)
    #expect(await send(2, as: 7) == 1)
    #expect(await send(3, as: 6) == 1)
    #expect(await send(4, as: 1, of: "obs") == 0)
    #expect(await run.lane.positions(of: .main) == ["irc": 7, "obs": 1])
    run = try await successor(of: run)
    #expect(await run.lane.positions(of: .main) == ["irc": 7, "obs": 1])
    #expect(await send(5, as: 7) == 1)
    #expect(await send(6, as: 8) == 0)
    #expect(await run.lane.report(.main)?.features.header?.viewers == 6)
    run = try await restarted(run)
    #expect(await run.lane.positions(of: .main) == ["irc": 8, "obs": 1])
    #expect(await run.lane.report(.main)?.rejectedByReason == ["duplicate": 3])
    try await run.end()
  }

  @Test func `a batch without new messages still advances the batch number`() async throws {
    var run = try KeptRooms(in: path)
    _ = try run.directory.open(.main)
    #expect(await send(0..<3, to: run) == 0)
    #expect(await send(0..<3, to: run, as: 1) == 3)
    #expect(await send([], to: run, position: BatchPosition(source: "irc", sequence: 2)) == 0)
    run = try await successor(of: run)
    #expect(await run.lane.positions(of: .main) == ["irc": 2])
    #expect(await run.count() == 3)
    try await run.end()
  }

  @Test func `no event of a partly written batch is restored`() async throws {
    let first = try KeptRooms(in: path)
    _ = try first.directory.open(.main)
    #expect(await send(0..<5, to: first, as: 1) == 0)
    #expect(await send(5..<15, to: first, as: 2) == 0)
    let copy = try first.kill()
    try await first.end()
    // The power failed during the write of the second batch.
    let file = copy + "/log/000001.ndjson"
    let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
    let last = try #require(lines.lastIndex { $0.contains("number 9") })
    try (lines[...last].joined(separator: "\n") + "\n").write(
      toFile: file, atomically: true, encoding: .utf8)
    var run = try KeptRooms(in: copy)
    await run.restore()
    for _ in 0..<2 {
      #expect(await run.lane.positions(of: .main) == ["irc": 1])
      #expect(await run.count() == 5)
      // Later log records do not complete the partial batch.
      run = try await successor(of: run)
    }
    #expect(await send(5..<15, to: run, as: 2) == 0)
    run = try await successor(of: run)
    #expect(await run.count() == 15)
    #expect(await run.lane.positions(of: .main) == ["irc": 2])
    try await run.end()
  }

  @Test func `a room keeps the batch numbers of the 64 sources that were last active`()
    async throws
  {
    let run = try KeptRooms(in: path)
    _ = try run.directory.open(.main)
    func send(_ source: String, _ sequence: Int) async -> Int {
      await self.send(
        KeptRooms.messages(0..<1), to: run,
        position: BatchPosition(source: Text(source), sequence: sequence))
    }
    for number in 0..<64 { _ = await send("s\(number)", 1) }
    _ = await send("s0", 2)
    _ = await send("further", 1)
    let positions = try #require(await run.lane.positions(of: .main))
    #expect(positions.count == 64)
    #expect(positions["s0"] == 2 && positions["s1"] == nil && positions["further"] == 1)
    try await run.end()
  }
}
