import Glibc
import NIOCore
import NIOPosix
import SocketTestSupport
import TestSupport
import Testing
import Varlink

/// Tests the end of a server. A stop that hangs fails by the time limit.
@Suite(.serialized, .timeLimit(.minutes(1))) struct StoppingTests {
  private let directory = TemporaryDirectory()

  static func limits(drainTimeout: TimeAmount) -> VarlinkServer.Limits {
    var limits = VarlinkServer.Limits()
    limits.drainTimeout = drainTimeout
    return limits
  }

  @Test func `a shutdown ends monitors and lets running calls finish`() async throws {
    let example = Example()
    let release = Signal()
    let waiting = Signal()
    var interface = try Interface(parsing: "interface a.b\nmethod Wait() -> ()")
    try interface.handle("Wait") { (_, _: NoParameters) in
      waiting.fire()
      await release.wait()
      return NoParameters()
    }
    let limits = Self.limits(drainTimeout: .hours(24))
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    try await withServer([try example.interface(), interface], limits: limits, group: group) {
      path, server in
      let caller = try BlockingClient(path)
      caller.send("{\"method\":\"a.b.Wait\"}\0" + ServerProtocolTests.echo("too late"))
      let monitor = try BlockingClient(path)
      monitor.send(ServerProtocolTests.call("HangMore", ",\"more\":true"))
      // The only event loop stops the connections in this order. When the last one is closed, the
      // first one is stopping.
      let idle = try BlockingClient(path)
      idle.send(ServerProtocolTests.echo("idle"))
      #expect(idle.receive() != nil)
      await example.hangStarted.wait()
      await waiting.wait()
      async let stopped: Void = server.shutdown()
      #expect(monitor.receive() == nil)
      #expect(idle.receive() == nil)
      release.fire()
      #expect(caller.receive() == #"{"parameters":{}}"#)
      #expect(caller.receive() == nil)
      await stopped
      #expect(access(path, F_OK) != 0)
      #expect(server.connectionCount == 0)
    }
    try await group.shutdownGracefully()
  }

  @Test
  func `during a shutdown, a monitor whose client does not read is closed after a grace period`()
    async throws
  {
    let full = Signal()
    // This is far more than the kernel buffers for a reader.
    let payload = ByteBuffer(string: "{\"text\":\"\(String(repeating: "x", count: 4 << 20))\"}")
    var interface = try Interface(parsing: "interface a.b\nmethod Flood() -> (text: string)")
    try interface.handleRawStream("Flood") { _, replies in
      #expect(try replies.trySend(parameters: payload))
      full.fire()
      try await replies.send(parameters: payload)
      return payload
    }
    try await withServer([interface], limits: Self.limits(drainTimeout: .zero)) { path, server in
      let client = try BlockingClient(path)
      client.send("{\"method\":\"a.b.Flood\",\"more\":true}\0")
      await full.wait()
      await server.shutdown()
      #expect(server.connectionCount == 0)
      #expect(client.receive() == nil)
    }
  }

  @Test(
    arguments: ["", ",\"oneway\":true"])
  func `during a shutdown, a running call is cancelled after its grace period`(flags: String)
    async throws
  {
    let example = Example()
    let limits = Self.limits(drainTimeout: .zero)
    try await withServer([try example.interface()], limits: limits) { path, server in
      let client = try BlockingClient(path)
      client.send(ServerProtocolTests.call("Hang", flags))
      await example.hangStarted.wait()
      await server.shutdown()
      await example.hangCancelled.wait()
      #expect(client.receive() == nil)
    }
  }

  @Test(
    arguments: ["", ",\"more\":true"],
    [false, true])
  func `a shutdown is complete when the last handler has ended`(flags: String, disconnects: Bool)
    async throws
  {
    let (started, cancelled, ended) = (Signal(), Signal(), Counter())
    let never = AsyncStream<Never> { _ in }
    var interface = try Interface(parsing: "interface a.b\nmethod Linger() -> ()")
    try interface.handleStream("Linger") { (_, _: NoParameters, _) in
      started.fire()
      for await _ in never {}  // ends when the task is cancelled
      cancelled.fire()
      // The task is detached, so that the event loop can close the connection meanwhile.
      await Task.detached { for _ in 0..<10_000 { await Task.yield() } }.value
      ended.increment()
      return NoParameters()
    }
    try await withServer([interface], limits: Self.limits(drainTimeout: .zero)) { path, server in
      let client = try BlockingClient(path)
      client.send("{\"method\":\"a.b.Linger\"\(flags)}\0")
      await started.wait()
      if disconnects {
        client.close()
        await cancelled.wait()
      }
      await server.shutdown()
      #expect(ended.value == 1)
    }
  }

  @Test func `a connection that is stopped before it is active closes when it becomes active`()
    async throws
  {
    let listener = try makeListeningSocket("\(directory.path)/socket")
    defer { close(listener) }
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let limits = VarlinkServer.Limits()
          let dispatcher = try Dispatcher(
            interfaces: [], limits: limits, unexpectedError: { _, _ in nil })
          let connection = ServerConnection(
            dispatcher: dispatcher, limits: limits, eventLoop: channel.eventLoop)
          try channel.pipeline.syncOperations.addHandler(connection)
          connection.stop()
        }
      }.connect(unixDomainSocketPath: "\(directory.path)/socket").get()
    // The assertion runs after the turn in which the connection becomes active.
    try await channel.eventLoop.submit {}.get()
    #expect(!channel.isActive)
    try? await channel.close().get()
  }
}
