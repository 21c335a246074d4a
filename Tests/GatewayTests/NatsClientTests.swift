import Gateway
import Locking
import NIOCore
import NIOPosix
import SystemSupport
import Testing

/// The part of a NATS server that a publishing client needs.
private final class Server: ChannelInboundHandler, Sendable {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let text = Guarded("")
  /// The subjects of the published messages.
  var subjects: [Substring] {
    text.withLock { $0 }.split(separator: "\r\n").filter { $0.hasPrefix("PUB ") }
      .map { $0.split(separator: " ")[1] }
  }

  func channelActive(context: ChannelHandlerContext) {
    write(
      #"INFO {"server_id":"s","version":"2.11.0","headers":true,"max_payload":1048576}"#, context)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let received = String(buffer: unwrapInboundIn(data))
    // An empty line follows commands without a body.
    let pings = text.withLock { text in
      let known = text.split(separator: "\r\n").count { $0 == "PING" }
      text += received
      return text.split(separator: "\r\n").count { $0 == "PING" } - known
    }
    for _ in 0..<pings { write("PONG", context) }
  }

  private func write(_ line: String, _ context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: line + "\r\n")), promise: nil)
  }
}

@Suite(.timeLimit(.minutes(1)))
struct NatsClientTests {
  @Test func `everything that was published is sent before the connection to NATS is closed`()
    async throws
  {
    let server = Server()
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let channel = try await ServerBootstrap(group: group)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(server)
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let port = try #require(channel.localAddress?.port)
    var settings = NatsClient.Settings()
    settings.servers = ["nats://127.0.0.1:\(port)"]
    let client = try NatsClient(
      settings, events: .init(received: { _ in }, disconnected: {}, connected: {}))
    for number in 0..<200 { client.publish("s.\(number)", []) }
    await withCheckedContinuation { continuation in client.close { continuation.resume() } }
    #expect(server.subjects == (0..<200).map { "s.\($0)" })
    try await channel.close()
    try await group.shutdownGracefully()
  }
}
