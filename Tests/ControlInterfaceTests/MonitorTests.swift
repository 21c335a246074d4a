import ControlInterface
import ControlTestSupport
import Glibc
import JSON
import Synchronization
import Testing
import Varlink

@Suite(.serialized) struct MonitorTests {
  private func report(viewers: Int, chat: ChatReport? = nil, title: String = "") -> RoomReport {
    var report = RoomReport.empty
    report.features.header?.viewers = viewers
    report.features.header?.title = title
    report.features.chat = chat
    return report
  }

  /// A service that publishes this report as soon as somebody watches.
  private func service(first: RoomReport) -> FakeService {
    let holder = Mutex<FakeService?>(nil)
    let service = FakeService { try? holder.withLock { $0 }?.feed.publish(first) }
    holder.withLock { $0 = service }
    return service
  }

  @Test func `the first reply is the state, later ones are patches, and none says nothing`()
    async throws
  {
    let service = service(first: report(viewers: 1))
    try await withControlServer(service) { path, _ in
      var states = try await ControlClient.connect(path: path).monitorRoom("main")
        .makeAsyncIterator()
      let first = try #require(try await states.next())
      #expect(first.reply.patch == nil)
      #expect(try first.room == JSONValue(encoding: report(viewers: 1)))

      try service.feed.publish(report(viewers: 1))
      try service.feed.publish(report(viewers: 2, chat: ChatReport(total: 1)))
      let second = try #require(try await states.next())
      #expect(second.reply.room == nil)
      #expect(second.reply.patch?["features"]?["header"] == ["viewers": 2])
      #expect(second.reply.sequence == first.reply.sequence + 1)

      try service.feed.publish(report(viewers: 2))
      let third = try #require(try await states.next())
      #expect(third.reply.patch == ["features": ["chat": .null]])
      #expect(try third.room == JSONValue(encoding: report(viewers: 2)))
      #expect(try third.report() == report(viewers: 2))

      service.feed.finish(.noSuchRoom("main"))
      await #expect(
        throws: VarlinkClientError.remote(ControlError.noSuchRoom("main").varlinkError)
      ) { _ = try await states.next() }
    }
  }

  @Test func `without more there is one reply`() async throws {
    try await withControlServer(service(first: report(viewers: 1))) { path, _ in
      let client = try await VarlinkClient.connect(path: path)
      for _ in 0..<2 {
        let reply: MonitorRoomReply = try await client.call(
          "io.livehost.Control.MonitorRoom", ["room": "main"])
        #expect(try reply.room == JSONValue(encoding: report(viewers: 1)))
      }
    }
  }

  @Test func `a monitor of some features hears of no other`() async throws {
    let service = service(first: report(viewers: 1))
    try await withControlServer(service) { path, _ in
      var states = try await ControlClient.connect(path: path)
        .monitorRoom("main", features: [.chat]).makeAsyncIterator()
      let first = try #require(try await states.next())
      #expect(first.room["features"] == ["chat": .null])
      try service.feed.publish(report(viewers: 2))
      try service.feed.publish(report(viewers: 3, chat: ChatReport(total: 7)))
      let second = try #require(try await states.next())
      #expect(second.room["features"]?["chat"]?["total"] == 7)
      #expect(second.room["features"]?["header"] == nil)
    }
  }

  @Test func `a monitor that does not read gets the newest state as one patch`() async throws {
    var limits = VarlinkServer.Limits()
    limits.outputBytes = 1
    // Larger than the socket's buffers, so that the first reply is stuck until it is read.
    let long = String(repeating: "x", count: 8 << 20)
    let service = service(first: report(viewers: 0, title: long))
    try await withControlServer(service, limits: limits) { path, server in
      let client = RawSocket(path: path)
      client.send(
        #"{"method":"io.livehost.Control.MonitorRoom","parameters":{"room":"main"},"more":true}"#)
      client.receiveSome()
      for viewers in 1...100 { try service.feed.publish(report(viewers: viewers, title: long)) }
      #expect(client.receive()["parameters"]?["sequence"] == 1)
      let merged = client.receive()
      #expect(merged["parameters"]?["sequence"] == 101)
      #expect(merged["parameters"]?["patch"] == ["features": ["header": ["viewers": 100]]])
      #expect(server.monitorCount == 1)
    }
    #expect(!service.feed.hasSubscribers)
  }

  @Test func `a maximum rate is the time between replies, and what comes faster is merged`()
    async throws
  {
    let slept = AsyncStream.makeStream(of: Duration.self)
    let wake = AsyncStream.makeStream(of: Void.self)
    let service = service(first: report(viewers: 0))
    let sleep: @Sendable (Duration) async throws -> Void = { duration in
      slept.continuation.yield(duration)
      for await _ in wake.stream { return }
      throw CancellationError()
    }
    try await withControlServer(service, sleep: sleep) { path, _ in
      var states = try await ControlClient.connect(path: path)
        .monitorRoom("main", maximumRate: 4).makeAsyncIterator()
      _ = try await states.next()
      var sleeps = slept.stream.makeAsyncIterator()
      #expect(await sleeps.next() == .milliseconds(250))
      for viewers in 1...10 { try service.feed.publish(report(viewers: viewers)) }
      wake.continuation.yield()
      let next = try #require(try await states.next())
      #expect(next.reply.sequence == 11)
      #expect(next.room["features"]?["header"]?["viewers"] == 10)
      #expect(await sleeps.next() == .milliseconds(250))
      wake.continuation.finish()
    }
  }

  @Test func `nothing is kept or encoded while nobody watches`() throws {
    let feed = RoomFeed(onDemand: {})
    #expect(!feed.hasSubscribers)
    var report = RoomReport.empty
    report.features.control?.values["volume"] = .nan
    try feed.publish(report)  // would throw if it were encoded
  }
}

/// A client that reads when it is told to.
private final class RawSocket {
  private let handle: CInt
  private var received: [UInt8] = []
  private var scanned = 0

  init(path: String) {
    handle = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = connect(handle, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  deinit { close(handle) }

  func send(_ message: String) {
    let bytes = Array(message.utf8) + [0]
    _ = bytes.withUnsafeBytes { Glibc.send(handle, $0.baseAddress, $0.count, 0) }
  }

  @discardableResult
  func receiveSome() -> Bool {
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    let count = recv(handle, &chunk, chunk.count, 0)
    if count > 0 { received.append(contentsOf: chunk[..<count]) }
    return count > 0
  }

  /// The next message; null at the end.
  func receive() -> JSONValue {
    while true {
      if let end = received[scanned...].firstIndex(of: 0) {
        defer {
          received.removeSubrange(...end)
          scanned = 0
        }
        return (try? JSONValue(parsing: received[..<end])) ?? .null
      }
      scanned = received.count
      if !receiveSome() { return .null }
    }
  }
}
