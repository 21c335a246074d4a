import LiveSources
import NIOCore
import NIOPosix
import Testing

/// Tests requests to scripted servers, on real sockets.
@Suite(.timeLimit(.minutes(1)))
struct HTTPFetchTests {
  /// Writes a fixed answer to the first data, and closes the connection.
  private final class Answering: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: String

    init(_ answer: String) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
      context.close(promise: nil)
    }
  }

  private struct NoServer: Error {}

  /// Returns the result of a request to a server with a fixed answer. The port is closed if the
  /// answer is `nil`.
  private func fetch(
    _ answer: String?, isEncrypted: Bool = false
  ) async throws -> Result<HTTPAnswer, HTTPFailure> {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let server = try await ServerBootstrap(group: group)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Answering(answer ?? ""))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    guard let port = server.localAddress?.port,
      let address = HTTPAddress("http\(isEncrypted ? "s" : "")://127.0.0.1:\(port)/")
    else { throw NoServer() }
    if answer == nil { try await server.close().get() }
    let ended = loop.makePromise(of: Result<HTTPAnswer, HTTPFailure>.self)
    let kept = NIOLoopBoundBox<HTTPFetch?>.makeEmptyBox(eventLoop: loop)
    try await loop.submit {
      kept.value = HTTPFetch(
        HTTPRequest(.post, address), security: isEncrypted ? try PeerSecurity() : nil,
        timeout: .seconds(50), eventLoop: loop
      ) { ended.succeed($0) }
    }.get()
    let result = try await ended.futureResult.get()
    try await group.shutdownGracefully()
    return result
  }

  @Test func `a response contains the status, the headers and the body`() async throws {
    let answer = try await fetch(
      "HTTP/1.1 429 Slow\r\nRatelimit-Reset: 17\r\nContent-Length: 2\r\n\r\nno"
    ).get()
    #expect(answer.status == 429)
    #expect(answer.header("ratelimit-reset") == "17")
    #expect(answer.header("Retry-After") == nil)
    #expect(String(decoding: answer.body, as: UTF8.self) == "no")
  }

  @Test func `a request to a closed port was not sent`() async throws {
    guard case .failure(let failure) = try await fetch(nil) else {
      Issue.record("a closed port has answered")
      return
    }
    #expect(!failure.mayBeSent)
  }

  @Test func `a request whose connection breaks before the response may have been sent`()
    async throws
  {
    guard case .failure(let failure) = try await fetch("") else {
      Issue.record("a closed connection has answered")
      return
    }
    #expect(failure.mayBeSent)
  }

  @Test func `a request is not sent before the server has proved its identity`() async throws {
    guard case .failure(let failure) = try await fetch("not TLS", isEncrypted: true) else {
      Issue.record("a server without TLS has answered")
      return
    }
    #expect(!failure.mayBeSent)
  }
}
