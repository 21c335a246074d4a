import ControlInterface
import Dispatch
import HostScreen
import Ingest
import LiveEvents
import LivehostDaemon
import NIOCore
import NIOPosix
import RateLimiting
import Rooms
import Testing
import Throttling
import WireFormats

/// A lane with rooms, to which the tests deliver events directly.
private struct TestLane {
  let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  let lane: HostLane
  let directory: RoomDirectory

  init(
    maximumRooms: Int = 4, settings: RoomSettings = RoomSettings(),
    turnLength: TimeAmount = .milliseconds(8)
  ) throws {
    let loop = try #require(group.next() as? any EventLoop & NIOSerialEventLoopExecutor)
    lane = HostLane(index: 0, eventLoop: loop, settings: settings, turnLength: turnLength)
    directory = RoomDirectory(lanes: [lane], maximumRooms: maximumRooms)
  }

  /// Delivers events and returns the number of rejected events, after the others are applied.
  func send(_ events: [LiveEvent], to room: RoomName, clock: FrameClock = .event) async -> Int {
    await withCheckedContinuation { continuation in
      lane.post(
        RoomDelivery(
          room: room, events: events, clock: clock,
          receipt: DeliveryReceipt { rejected, _ in continuation.resume(returning: rejected) }))
    }
  }

  func end() async throws {
    await directory.closeAll()
    try await group.shutdownGracefully()
  }
}

private func viewers(_ count: Int, at timestamp: Timestamp) -> LiveEvent {
  LiveEvent(timestamp: timestamp, payload: .header(.viewers(count: count)))
}

private func message(_ number: Int, at timestamp: Timestamp) -> LiveEvent {
  LiveEvent(
    timestamp: timestamp,
    payload: .chat(
      .message(
        ChatMessage(id: "m\(number)", userID: "u\(number % 7)", userName: "U", text: "t"))))
}

@Suite struct LaneTests {
  @Test(.timeLimit(.minutes(1)))
  func `a room whose namesake is still closing is opened on the same lane`() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    let lanes = try (0..<2).map { index in
      let loop = try #require(group.next() as? any EventLoop & NIOSerialEventLoopExecutor)
      return HostLane(index: index, eventLoop: loop, settings: RoomSettings())
    }
    let directory = RoomDirectory(lanes: lanes, maximumRooms: 4)
    #expect(try directory.open(.main) === lanes[0])
    // Waits until the opening is applied. Without this wait, the lane could apply the opening and
    // the closing in one turn, before the test blocks the lane.
    #expect(await lanes[0].report(.main) != nil)
    let release = DispatchSemaphore(value: 0)
    lanes[0].eventLoop.execute { release.wait() }
    async let isClosed = directory.close(.main)
    while directory.lane(of: .main) != nil { await Task.yield() }
    #expect(try directory.open(.main) === lanes[0])
    release.signal()
    #expect(await isClosed)
    // After the closing, the name may open on another lane.
    #expect(await directory.close(.main))
    _ = try directory.open(try #require(RoomName("other")))
    #expect(try directory.open(.main) === lanes[1])
    await directory.closeAll()
    try await group.shutdownGracefully()
  }

  @Test func `events sent directly after a room was opened reach the room`() async throws {
    let test = try TestLane()
    _ = try test.directory.open(.main)
    #expect(await test.send([viewers(3, at: 0)], to: .main) == 0)
    #expect(await test.lane.report(.main)?.features.header?.viewers == 3)
    try await test.end()
  }

  @Test(.timeLimit(.minutes(1)))
  func `a report of a room includes all events posted before the request`() async throws {
    let test = try TestLane(turnLength: .nanoseconds(1))
    _ = try test.directory.open(.main)
    for number in 0..<200 {
      test.lane.post(RoomDelivery(room: .main, events: [message(number, at: 0)]))
    }
    #expect(await test.lane.report(.main)?.counters.received == 200)
    #expect(await test.lane.counts().received == 200)
    try await test.end()
  }

  @Test func `acknowledged events have been applied even if throttles would delay them`()
    async throws
  {
    let test = try TestLane()
    _ = try test.directory.open(.main)
    for round in 0..<50 {
      _ = await test.send((0..<10).map { message(round * 10 + $0, at: Timestamp($0)) }, to: .main)
      let report = try #require(await test.lane.report(.main))
      #expect(report.features.chat?.total == (round + 1) * 10)
      #expect(report.counters.pending == 0)
      #expect(report.counters.received == report.counters.applied)
    }
    try await test.end()
  }

  @Test func `frames of a recorded stream follow its timestamps, not the speed of arrival`()
    async throws
  {
    var frames: [Int] = []
    // The stream has one message per second for ten minutes, delivered in one batch and in several.
    for pieces in [1, 60] {
      let test = try TestLane()
      _ = try test.directory.open(.main)
      let events = (0..<600).map { message($0, at: 1_700_000_000_000 + Timestamp($0) * 1000) }
      for piece in 0..<pieces {
        let part = events[(piece * 600 / pieces)..<((piece + 1) * 600 / pieces)]
        test.lane.post(
          RoomDelivery(
            room: .main, events: Array(part), clock: .event))
      }
      _ = await test.send([], to: .main)
      let report = try #require(await test.lane.report(.main))
      #expect(report.features.chat?.total == 600)
      frames.append(report.frames)
      try await test.end()
    }
    #expect(frames[0] == frames[1])
    #expect(frames[0] >= 600)
  }

  @Test(.timeLimit(.minutes(1)))
  func `a gap of years between two live events does not cause years of frames`() async throws {
    let test = try TestLane()
    _ = try test.directory.open(.main)
    let live = LiveEvent(timestamp: 1_600_000_000_000, payload: .stream(.live))
    let hour: Timestamp = 3_600_000
    let later = [hour, 200_000 * hour, 200_001 * hour].map { viewers(1, at: live.timestamp + $0) }
    _ = await test.send([live] + later, to: .main)
    let frames = try #require(await test.lane.report(.main)).frames
    #expect((64..<200).contains(frames), "\(frames)")
    try await test.end()
  }

  @Test(.timeLimit(.minutes(1)))
  func `a sender that waits is acknowledged immediately, even if throttles hold its events`()
    async throws
  {
    var settings = RoomSettings()
    settings.throttling[.statistics].maximumStaleness = .seconds(3_600)
    settings.throttling[.statistics].interval = .seconds(3_600)
    let test = try TestLane(settings: settings)
    _ = try test.directory.open(.main)
    let statistics = StreamStatistics(bitrateKbps: 1)
    for time: Timestamp in 0..<3 {
      let event = LiveEvent(timestamp: time, payload: .liveRoomStats(statistics))
      #expect(await test.send([event], to: .main, clock: .arrival) == 0)
    }
    #expect(await test.lane.report(.main)?.counters.pending == 0)
    try await test.end()
  }

  @Test(.timeLimit(.minutes(1)))
  func `a room can be read as soon as the opening call has reserved its name`() async throws {
    // Each turn does only one thing, and the opening is queued after many other deliveries.
    let studio = try Studio(turnLength: .zero)
    let lane = studio.lane
    let posted = DispatchSemaphore(value: 0)
    for number in 0..<20_000 {
      // The first delivery blocks the lane until all others are posted.
      lane.post(
        RoomDelivery(
          room: try #require(RoomName("other-\(number)")), events: [],
          receipt: DeliveryReceipt { _, _ in if number == 0 { posted.wait() } }))
    }
    let room = try #require(RoomName("new"))
    _ = try studio.directory.open(room)
    posted.signal()
    #expect(try await studio.control.getRoom("new", features: []).room == "new")
    #expect(try await studio.control.explain(room: "new", view: "HostView").evaluations >= 0)
    try await studio.end()
  }

  @Test func `a large delivery is applied in parts, and other rooms are served in between`()
    async throws
  {
    // Each turn does only one thing.
    let test = try TestLane(turnLength: .zero)
    _ = try test.directory.open(.main)
    let wrong = LiveEvent(
      timestamp: 0, payload: .control(.slider(Slider(control: "gain", phase: .change, value: 7))))
    let events = (0..<600).map { message($0, at: Timestamp($0) * 1_000) }
    let end = LiveEvent(timestamp: 600_000, payload: wrong.payload)
    async let rejected = test.send([wrong] + events + [end], to: .main)
    var totals: Set<Int> = []
    while totals.max() ?? 0 < 602 { totals.insert(await test.lane.counts().received) }
    #expect(await rejected == 2, "the rejected events of all parts are counted")
    #expect(totals.contains { 0 < $0 && $0 < 600 }, "\(totals.sorted())")
    try await test.end()
  }

  @Test(.timeLimit(.minutes(1)))
  func `a sender with jumping timestamps does not delay another room's deliveries`()
    async throws
  {
    let test = try TestLane(turnLength: .zero)
    _ = try test.directory.open(.main)
    let other = try #require(RoomName("other"))
    _ = try test.directory.open(other)
    // Each line of this delivery produces 64 frames.
    let live = LiveEvent(timestamp: 0, payload: .stream(.live))
    for number in 0..<60 {
      let events = [viewers(number, at: Timestamp(number) * 65_000)]
      test.lane.post(
        RoomDelivery(room: .main, events: (number == 0 ? [live] : []) + events, clock: .event))
    }
    _ = await test.send([viewers(7, at: 0)], to: other)
    #expect(await test.lane.counts().received < 60, "the other room was served first")
    _ = await test.send([], to: .main)
    #expect(await test.lane.report(.main)?.counters.received == 61)
    try await test.end()
  }

  @Test(.timeLimit(.minutes(1)))
  func `setting the watched names returns the names and how many stored messages mention them`()
    async throws
  {
    let test = try TestLane()
    _ = try test.directory.open(.main)
    let text = String(repeating: "@", count: 4_000) + "@ann"
    let events = (0..<200).map { number in
      LiveEvent(
        timestamp: Timestamp(number),
        payload: .chat(
          .message(ChatMessage(id: "\(number)", userID: "u", userName: "U", text: text))))
    }
    _ = await test.send(events, to: .main, clock: .arrival)
    let kept = try #require(await test.lane.report(.main)?.features.chat?.total)
    #expect(kept == 200)
    let reply = try await test.lane.act(.chat(.highlight(names: ["ann"])), in: .main).get()
    #expect(reply.mentions == 200)
    let filter = MessageFilter(words: "@@@ann")
    #expect(try await test.lane.act(.chat(.filter(filter)), in: .main).get().passing == 200)
    try await test.end()
  }

  @Test func `events for a room that has been closed are rejected and acknowledged`() async throws {
    let test = try TestLane()
    _ = try test.directory.open(.main)
    #expect(await test.directory.close(.main))
    #expect(await !test.directory.close(.main))
    #expect(await test.send([viewers(1, at: 0), viewers(2, at: 0)], to: .main) == 2)
    let counts = await test.lane.counts()
    #expect(counts.rejectedByReason == [.roomClosed: 2])
    #expect(counts.isConserved)
    try await test.end()
  }

  @Test func `the daemon's totals include rooms that have been closed`() async throws {
    let test = try TestLane()
    _ = try test.directory.open(.main)
    _ = await test.send([viewers(1, at: 0)], to: .main)
    _ = await test.directory.close(.main)
    _ = try test.directory.open(.main)
    _ = await test.send([viewers(2, at: 0)], to: .main)
    #expect(await test.lane.counts().received == 2)
    #expect(await test.lane.report(.main)?.counters.received == 1)
    try await test.end()
  }

  @Test func `a room is not opened beyond the maximum or during a stop`()
    async throws
  {
    let test = try TestLane(maximumRooms: 1)
    _ = try test.directory.open(.main)
    #expect(throws: RoomDirectory.Refusal.exists) { try test.directory.open(.main) }
    let other = try #require(RoomName("other"))
    #expect(throws: RoomDirectory.Refusal.tooMany) { try test.directory.open(other) }
    #expect(test.directory.laneOpening(other) == nil)
    #expect(test.directory.laneOpening(.main) === test.lane)
    await test.directory.closeAll()
    #expect(throws: RoomDirectory.Refusal.closing) { try test.directory.open(other) }
    try await test.group.shutdownGracefully()
  }

  @Test func `parts of the screen appear and disappear with the phases of the stream`() async throws
  {
    let test = try TestLane()
    _ = try test.directory.open(.main)
    let person = Person(id: "1", name: "Ada")
    _ = await test.send([LiveEvent(timestamp: 0, payload: .waitingRoom(.join(person)))], to: .main)
    #expect(await test.lane.report(.main)?.features.waitingRoom?.waiting == 1)
    _ = await test.send([LiveEvent(timestamp: 1_000, payload: .stream(.live))], to: .main)
    var report = try #require(await test.lane.report(.main))
    #expect(report.features.waitingRoom == nil)
    #expect(report.phase == .live)
    _ = await test.send([message(1, at: 61_000)], to: .main)
    report = try #require(await test.lane.report(.main))
    // The duration is updated once a second, so it may be one tick late.
    let duration = try #require(report.features.header?.durationMs)
    #expect((59_000...60_000).contains(duration), "time goes on while the stream is live")
    try await test.end()
  }
}
