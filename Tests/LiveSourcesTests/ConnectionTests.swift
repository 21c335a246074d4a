import LiveSources
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import Testing

/// Tests connections to misbehaving peers, on real sockets.
@Suite(.timeLimit(.minutes(1)))
struct ConnectionTests {
  @Test func `a connection to a server that does not read is closed`() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let server = try await ServerBootstrap(group: group)
      .childChannelOption(.autoRead, value: false)
      .bind(host: "127.0.0.1", port: 0).get()
    let port = try #require(server.localAddress?.port)
    let ended = loop.makePromise(of: String.self)
    let kept = NIOLoopBoundBox<PeerConnection?>.makeEmptyBox(eventLoop: loop)
    try await loop.submit {
      var events = StreamEvents()
      // This is much more than the sockets can buffer.
      let text = String(repeating: "x", count: 64 << 10)
      events.opened = { for _ in 0..<1_024 { kept.value?.send(text) } }
      events.closed = { ended.succeed($0) }
      kept.value = PeerConnection(
        to: PeerAddress(host: "127.0.0.1", port: port), security: nil, eventLoop: loop,
        events: events)
    }.get()
    #expect(try await ended.futureResult.get() == "the server does not read its input")
    try await group.shutdownGracefully()
  }

  @Test func `a message that is too long ends the connection, and the reason says so`() async throws
  {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let upgrader = NIOWebSocketServerUpgrader(
      shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
      upgradePipelineHandler: { channel, _ in
        let data = ByteBuffer(repeating: UInt8(ascii: "x"), count: 2 << 20)
        channel.writeAndFlush(WebSocketFrame(fin: true, opcode: .text, data: data), promise: nil)
        return channel.eventLoop.makeSucceededVoidFuture()
      })
    let server = try await ServerBootstrap(group: group)
      .childChannelInitializer { channel in
        channel.pipeline.configureHTTPServerPipeline(
          withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }))
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let port = try #require(server.localAddress?.port)
    let ended = loop.makePromise(of: WebSocketEnd.self)
    let kept = NIOLoopBoundBox<WebSocketConnection?>.makeEmptyBox(eventLoop: loop)
    try await loop.submit {
      var events = WebSocketEvents()
      events.closed = { ended.succeed($0) }
      kept.value = WebSocketConnection(
        to: PeerAddress(host: "127.0.0.1", port: port), security: nil, eventLoop: loop,
        events: events)
    }.get()
    #expect(try await ended.futureResult.get() == WebSocketEnd(reason: "a message was too long"))
    try await group.shutdownGracefully()
  }

  @Test func `a stopped source receives no further calls, even if its deadline has passed`()
    async throws
  {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let called = NIOLoopBoundBox.makeBoxSendingValue(0, eventLoop: loop)
    try await loop.submit {
      let timer = SourceTimer()
      // Both tasks are due before the first one runs, so the second one can no longer be cancelled.
      loop.assumeIsolated().scheduleTask(in: .zero) {
        timer.stop()
        timer.set(SourceDelivery.now, on: loop) { called.value += 1 }
      }
      timer.set(SourceDelivery.now, on: loop) { called.value += 1 }
    }.get()
    // The tasks that were due before these have run.
    for _ in 0..<2 { try await loop.scheduleTask(in: .zero) {}.futureResult.get() }
    #expect(try await loop.submit { called.value }.get() == 0)
    try await group.shutdownGracefully()
  }
}
