import ControlInterface
import ControlTestSupport
import Gateway
import Glibc
import JSON
import Locking
import Synchronization
import SystemSupport
import Testing
import UnixSockets
import Varlink

/// A fake daemon, and a chain of relays whose origin is this daemon.
private func withRelays<T: Sendable>(
  _ service: FakeService, hops: Int = 1, viewers: Int = 64, mayChange: Bool = true,
  _ body: (_ path: String, _ origin: VarlinkServer, [Relay]) async throws -> T
) async throws -> T {
  try await withDirectory { directory in
    let origin = try await startDaemon(service, at: "\(directory)/0")
    var relays: [Relay] = []
    var servers = [origin]
    for hop in 0..<hops {
      let relay = Relay(origin: { _ in "\(directory)/\(hop)" }, maximumRate: nil)
      servers.append(
        try await relay.serve(
          on: .bind(path: "\(directory)/\(hop + 1)", mode: 0o666), viewers: viewers,
          mayChange: { _ in mayChange }))
      relays.append(relay)
    }
    return try await ending(servers) { [relays] in
      try await body("\(directory)/\(hops)", origin, relays)
    }
  }
}

/// Two fake daemons, and a relay whose origin is the first daemon until `move` changes it.
private func withTwoOrigins(
  _ first: FakeService, _ second: FakeService,
  _ body: (
    _ path: String, _ origins: [VarlinkServer], RelayedRooms,
    _ move: @Sendable (_ name: String) -> Void
  ) async throws -> Void
) async throws {
  try await withDirectory { directory in
    let origins = [
      try await startDaemon(first, at: "\(directory)/first"),
      try await startDaemon(second, at: "\(directory)/second"),
    ]
    let name = Guarded("first")
    let relay = Relay(
      origin: { _ in "\(directory)/" + name.withLock { $0 } }, maximumRate: nil)
    let server = try await relay.serve(
      on: .bind(path: "\(directory)/relay", mode: 0o666), viewers: 4, mayChange: { _ in true })
    try await ending(origins + [server]) {
      try await body("\(directory)/relay", origins, relay.rooms) { new in
        name.withLock { $0 = new }
      }
    }
  }
}

@Suite(.timeLimit(.minutes(1)))
struct RelayTests {
  @Test func `a relayed room has the state of the original room and follows its changes`()
    async throws
  {
    let service = FakeService()
    try await withRelays(service) { path, _, _ in
      var states = try await ControlClient.connect(path: path).monitorRoom("main")
        .makeAsyncIterator()
      #expect(try await states.next()?.report() == .full)
      service.show(FakeService.room)
      #expect(try await states.next()?.report() == FakeService.room)
    }
  }

  @Test func `a monitor of one part of a relayed room gets only that part`() async throws {
    try await withRelays(FakeService()) { path, _, _ in
      var states = try await ControlClient.connect(path: path)
        .monitorRoom("main", features: [.header]).makeAsyncIterator()
      let state = try #require(try await states.next())
      #expect(state.value["features"]?.objectValue?.keys.map(\.description) == ["header"])
    }
  }

  @Test func `a thousand monitors over two relays cost the origin as much as one`() async throws {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = min(limit.rlim_max, 8192)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let service = FakeService()
    try await withRelays(service, hops: 2, viewers: 1000) { path, origin, relays in
      let changes = 5
      let last = MergePatch.normalized(try JSONValue(encoding: FakeService.room))
      try await withThrowingTaskGroup(of: Void.self) { group in
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        for _ in 0..<1000 {
          // The clients connect one after the other, because the kernel does not queue a thousand
          // connections.
          let client = try await ControlClient.connect(path: path)
          group.addTask {
            // The test must not wait for a monitor that fails.
            defer { begin.yield() }
            var states = try client.monitorRoom("main").makeAsyncIterator()
            _ = try await states.next()
            begin.yield()
            // Changes may be merged, but the last one arrives.
            while let state = try await states.next(), state.value != last {}
          }
        }
        var count = 0
        for await _ in begun {
          count += 1
          if count == 1000 { break }
        }
        #expect(origin.monitorCount == 1)
        #expect(await relays[0].rooms.count == 1)
        let before = service.reads.count
        for change in 0..<changes {
          service.show(change == changes - 1 ? FakeService.room : .full)
        }
        try await group.waitForAll()
        // The origin is read at most once per change, plus one read that may have begun before the
        // changes.
        #expect(service.reads.count - before <= changes + 1)
      }
    }
  }

  @Test func `the monitor at the origin ends with its last viewer`() async throws {
    try await withRelays(FakeService()) { path, origin, relays in
      do {
        var states = try await ControlClient.connect(path: path).monitorRoom("main")
          .makeAsyncIterator()
        _ = try await states.next()
        #expect(origin.monitorCount == 1)
      }
      while await relays[0].rooms.count > 0 || origin.monitorCount > 0 { await Task.yield() }
    }
  }

  @Test func `a room that is closed at the origin is closed at the relay with the same error`()
    async throws
  {
    let service = FakeService()
    try await withRelays(service, hops: 2) { path, _, _ in
      var states = try await ControlClient.connect(path: path).monitorRoom("main")
        .makeAsyncIterator()
      _ = try await states.next()
      service.feed.finish(.noSuchRoom("main"))
      await #expect(throws: VarlinkClientError.remote(ControlError.noSuchRoom("main").varlinkError))
      { while try await states.next() != nil {} }
    }
  }

  @Test func `the loss of the origin closes the connections of monitors`() async throws {
    try await withRelays(FakeService()) { path, origin, _ in
      var states = try await ControlClient.connect(path: path).monitorRoom("main")
        .makeAsyncIterator()
      _ = try await states.next()
      await origin.shutdown()
      await #expect(throws: VarlinkClientError.connectionClosed) {
        while try await states.next() != nil {}
      }
      let late = try await ControlClient.connect(path: path)
      await #expect(throws: VarlinkClientError.connectionClosed) { try await late.getStatus() }
    }
  }

  @Test func `monitors continue when their room moves to a new origin`()
    async throws
  {
    let (first, second) = (FakeService(), FakeService(report: FakeService.room))
    try await withTwoOrigins(first, second) { path, origins, rooms, move in
      var states = try await ControlClient.connect(path: path).monitorRoom("main")
        .makeAsyncIterator()
      #expect(try await states.next()?.report() == .full)
      move("second")
      await rooms.reroute { $0 == "side" }
      first.show(.empty)
      #expect(try await states.next()?.report() == .empty)
      await rooms.reroute { $0 == "main" }
      #expect(try await states.next()?.report() == FakeService.room)
      while origins[0].monitorCount > 0 { await Task.yield() }
      // Closing the room at its former origin has no effect on viewers.
      first.feed.finish(.noSuchRoom("main"))
      second.show(.full)
      #expect(try await states.next()?.report() == .full)
      #expect(origins[1].monitorCount == 1)
      #expect(await rooms.count == 1)
    }
  }

  @Test
  func `the monitors of a room end if the room has moved to an origin that cannot be reached`()
    async throws
  {
    try await withTwoOrigins(FakeService(), FakeService()) { path, origins, rooms, move in
      var states = try await ControlClient.connect(path: path).monitorRoom("main")
        .makeAsyncIterator()
      _ = try await states.next()
      move("nowhere")
      await rooms.reroute { _ in true }
      await rooms.reroute { _ in true }
      await #expect(throws: VarlinkClientError.connectionClosed) {
        while try await states.next() != nil {}
      }
      while await rooms.count > 0 || origins[0].monitorCount > 0 { await Task.yield() }
      // The next viewer gets the room from its new origin.
      move("second")
      var later = try await ControlClient.connect(path: path).monitorRoom("main")
        .makeAsyncIterator()
      #expect(try await later.next()?.report() == .full)
    }
  }

  @Test func `a relay forwards calls to the origin, and errors to the caller`() async throws {
    let service = FakeService()
    try await withRelays(service) { path, _, _ in
      let client = try await ControlClient.connect(path: path)
      try await client.openRoom("side")
      #expect(service.log.withLock { $0 }.contains { $0.contains("side") })
      await #expect(throws: VarlinkClientError.remote(ControlError.noSuchRoom("none").varlinkError))
      { _ = try await client.getRoomJSON("none") }
    }
  }

  @Test func `a relay forwards each reply of a call with several replies immediately`() async throws
  {
    let service = FakeService()
    try await withRelays(service) { path, _, _ in
      let client = try await VarlinkClient.connect(path: path)
      var replies = try client.callMore(
        "\(ControlInterface.name).MonitorHangs", returning: JSONValue.self
      ).makeAsyncIterator()
      // The call has two replies, and the first one must not wait for the second.
      #expect(try await replies.next() != nil)
    }
  }

  @Test func `a caller without rights at the relay cannot change anything at the origin`()
    async throws
  {
    let service = FakeService()
    try await withRelays(service, mayChange: false) { path, _, _ in
      let client = try await ControlClient.connect(path: path)
      await #expect(throws: VarlinkClientError.remote(ServiceError.permissionDenied.varlinkError)) {
        try await client.openRoom("side")
      }
      #expect(service.log.withLock { $0 }.isEmpty)
    }
  }
}
