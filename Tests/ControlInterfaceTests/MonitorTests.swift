import ControlInterface
import ControlTestSupport
import Glibc
import JSON
import SocketTestSupport
import Synchronization
import Testing
import UnixSockets
import Varlink

@Suite(.serialized) struct MonitorTests {
  private func report(viewers: Int, chat: ChatReport? = nil, title: String = "") -> RoomReport {
    var report = RoomReport.empty
    report.features.header?.viewers = viewers
    report.features.header?.title = title
    report.features.chat = chat
    return report
  }

  @Test
  func `the first reply of a monitor is the whole state, and later ones are non-empty patches`()
    async throws
  {
    let service = FakeService(report: report(viewers: 1))
    try await withControlServer(service) { path, _ in
      var states = try await ControlClient.connect(path: path).monitorRoom("main")
        .makeAsyncIterator()
      let first = try #require(try await states.next())
      #expect(first.reply.patch == nil)
      #expect(try first.value == JSONValue(encoding: report(viewers: 1)))

      service.show(report(viewers: 1))
      service.show(report(viewers: 2, chat: ChatReport(total: 1)))
      let second = try #require(try await states.next())
      #expect(second.reply.room == nil)
      #expect(second.reply.patch?["features"]?["header"] == ["viewers": 2])
      #expect(second.reply.sequence > first.reply.sequence)

      service.show(report(viewers: 2))
      let third = try #require(try await states.next())
      #expect(third.reply.patch == ["features": ["chat": .null]])
      #expect(try third.value == JSONValue(encoding: report(viewers: 2)))
      #expect(try third.report() == report(viewers: 2))

      service.feed.finish(.noSuchRoom("main"))
      await #expect(
        throws: VarlinkClientError.remote(ControlError.noSuchRoom("main").varlinkError)
      ) { _ = try await states.next() }
    }
  }

  @Test func `calling a monitor method without the flag more gives one reply`() async throws {
    try await withControlServer(FakeService(report: report(viewers: 1))) { path, _ in
      let client = try await VarlinkClient.connect(path: path)
      for _ in 0..<2 {
        let reply: MonitorRoomReply = try await client.call(
          "io.livehost.Control.MonitorRoom", ["room": "main"])
        #expect(try reply.room == JSONValue(encoding: report(viewers: 1)))
      }
    }
  }

  @Test func `a monitor of some features does not read other features`() async throws {
    let service = FakeService(report: report(viewers: 1))
    try await withControlServer(service) { path, _ in
      var states = try await ControlClient.connect(path: path)
        .monitorRoom("main", features: [.chat]).makeAsyncIterator()
      let first = try #require(try await states.next())
      #expect(first.value["features"] == [:])
      service.show(report(viewers: 2))
      service.show(report(viewers: 3, chat: ChatReport(total: 7)))
      let second = try #require(try await states.next())
      #expect(second.value["features"]?["chat"]?["total"] == 7)
      #expect(second.value["features"]?["header"] == nil)
    }
    #expect(Set(service.reads) == [[.chat]])
  }

  @Test func `a slow monitor receives the newest state as one patch`() async throws {
    var limits = VarlinkServer.Limits()
    limits.outputBytes = 1
    // The reply is larger than the socket's buffers, so it blocks until it is read.
    let long = String(repeating: "x", count: 8 << 20)
    let service = FakeService(report: report(viewers: 0, title: long))
    try await withControlServer(service, limits: limits) { path, server in
      let client = try BlockingClient(path)
      client.send(
        #"{"method":"io.livehost.Control.MonitorRoom","parameters":{"room":"main"},"more":true}"#
          + "\0")
      client.receiveSome()
      for viewers in 1...100 { service.show(report(viewers: viewers, title: long)) }
      #expect(service.reads.count == 1, "the room is not read while the reply blocks")
      let first = try JSONValue(parsing: #require(client.receive()))
      #expect(first["parameters"]?["sequence"] == 1)
      let merged = try JSONValue(parsing: #require(client.receive()))
      #expect(merged["parameters"]?["sequence"] == 101)
      #expect(merged["parameters"]?["patch"] == ["features": ["header": ["viewers": 100]]])
      #expect(server.monitorCount == 1)
    }
    #expect(service.reads.count == 2)
    #expect(!service.feed.hasMonitors)
  }

  /// A clock whose time advances only while a monitor sleeps, and only when the test advances it.
  private struct Clock {
    private let slept = AsyncStream.makeStream(of: Duration.self)
    private let wake = AsyncStream.makeStream(of: Void.self)

    var sleep: @Sendable (Duration) async throws -> Void {
      { [slept, wake] duration in
        slept.continuation.yield(duration)
        for await _ in wake.stream { return }
        throw CancellationError()
      }
    }

    /// Waits until the monitor sleeps; returns the duration of its sleep.
    func nextSleep() async -> Duration? {
      for await duration in slept.stream { return duration }
      return nil
    }

    func endSleep() { wake.continuation.yield() }
    func end() { wake.continuation.finish() }
  }

  @Test(.timeLimit(.minutes(1)))
  func `a monitor at 1 Hz reads one frame near the end of each second, and only its header`()
    async throws
  {
    let clock = Clock()
    let service = FakeService(report: report(viewers: 0, chat: ChatReport(total: 1)))
    try await withControlServer(service, sleep: clock.sleep) { path, _ in
      var states = try await ControlClient.connect(path: path)
        .monitorRoom("main", features: [.header], maximumRate: 1).makeAsyncIterator()
      _ = try await states.next()
      for second in 1...5 {
        func drawFrames(_ frames: ClosedRange<Int>) {
          for frame in frames {
            let viewers = second * 100 + frame
            service.show(report(viewers: viewers, chat: ChatReport(total: viewers)))
          }
        }
        #expect(await clock.nextSleep() == .milliseconds(980))
        drawFrames(1...58)
        #expect(service.reads.count == second, "the monitor has not requested a reading yet")
        clock.endSleep()
        #expect(await clock.nextSleep() == .milliseconds(20))
        drawFrames(59...60)
        #expect(service.reads.count == second + 1, "one frame is enough")
        clock.endSleep()
        let next = try #require(try await states.next())
        #expect(next.reply.sequence == second * 60)
        #expect(
          next.reply.patch == [
            "features": ["header": ["viewers": .integer(Int64(second * 100 + 59))]]
          ])
        #expect(service.reads.count == second + 1, "the room was not visited")
      }
      clock.end()
    }
    #expect(Set(service.reads) == [[.header]])
  }

  @Test(.timeLimit(.minutes(1)))
  func `the last state before a pause reaches a monitor even if the monitor slept at that time`()
    async throws
  {
    let clock = Clock()
    let service = FakeService(report: report(viewers: 0))
    try await withControlServer(service, sleep: clock.sleep) { path, _ in
      var states = try await ControlClient.connect(path: path)
        .monitorRoom("main", maximumRate: 4).makeAsyncIterator()
      _ = try await states.next()
      #expect(await clock.nextSleep() == .milliseconds(230))
      service.show(report(viewers: 1))
      clock.endSleep()
      #expect(await clock.nextSleep() == .milliseconds(20))
      clock.endSleep()
      #expect(try await states.next()?.value["features"]?["header"]?["viewers"] == 1)
      // The room changes in parts that the monitor does not see, and afterwards not at all.
      #expect(await clock.nextSleep() == .milliseconds(230))
      service.show(report(viewers: 1))
      for _ in 1...3 {
        clock.endSleep()
        #expect(await clock.nextSleep() != nil)
      }
      clock.endSleep()
      service.show(report(viewers: 2))
      #expect(try await states.next()?.value["features"]?["header"]?["viewers"] == 2)
      clock.end()
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `monitors of the same features read the room together, once per interval`() async throws {
    let clock = Clock()
    let service = FakeService(report: report(viewers: 0))
    try await withControlServer(service, sleep: clock.sleep) { path, _ in
      var monitors: [RoomStates.Iterator] = []
      for _ in 0..<3 {
        let client = try await ControlClient.connect(path: path)
        monitors.append(try client.monitorRoom("main", maximumRate: 1).makeAsyncIterator())
        #expect(try await monitors[monitors.count - 1].next() != nil)
        _ = await clock.nextSleep()
      }
      #expect(service.reads.count == 1, "nothing has changed since the first monitor began")
      service.show(report(viewers: 1))
      for _ in monitors { clock.endSleep() }
      for _ in monitors { _ = await clock.nextSleep() }
      for _ in monitors { clock.endSleep() }
      for index in monitors.indices {
        #expect(try await monitors[index].next()?.value["features"]?["header"]?["viewers"] == 1)
      }
      #expect(service.reads.count == 2, "one of them visited the room")
      for _ in monitors { _ = await clock.nextSleep() }
      for _ in monitors { clock.endSleep() }
      for _ in monitors { _ = await clock.nextSleep() }
      for viewers in 2...9 { service.show(report(viewers: viewers)) }
      for _ in monitors { clock.endSleep() }
      for index in monitors.indices {
        #expect(try await monitors[index].next()?.value["features"]?["header"]?["viewers"] == 2)
      }
      #expect(service.reads.count == 3, "the reading that the room provided was enough for all")
      clock.end()
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func
    `closing a room during a monitor's sleep sends the last state and ends the monitor immediately`()
    async throws
  {
    let clock = Clock()
    let service = FakeService(report: report(viewers: 0))
    try await withControlServer(service, sleep: clock.sleep) { path, _ in
      var states = try await ControlClient.connect(path: path)
        .monitorRoom("main", maximumRate: 0.001).makeAsyncIterator()
      _ = try await states.next()
      _ = await clock.nextSleep()
      service.show(report(viewers: 5))
      try await service.closeRoom("main")
      #expect(try await states.next()?.value["features"]?["header"]?["viewers"] == 5)
      await #expect(
        throws: VarlinkClientError.remote(ControlError.noSuchRoom("main").varlinkError)
      ) { _ = try await states.next() }
    }
  }

  @Test func `when a room can no longer be read, its monitors continue until it ends`()
    async throws
  {
    let feed = RoomFeed { _ in nil }
    let service = FakeService(feed: feed)
    try await withControlServer(service) { path, _ in
      var states = try await ControlClient.connect(path: path).monitorRoom("main")
        .makeAsyncIterator()
      while !feed.hasMonitors { await Task.yield() }
      feed.markStale { _ in { .null } }
      feed.finish(.noSuchRoom("main"))
      await #expect(
        throws: VarlinkClientError.remote(ControlError.noSuchRoom("main").varlinkError)
      ) { _ = try await states.next() }
    }
  }
}
