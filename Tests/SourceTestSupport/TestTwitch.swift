import LiveSources
package import NIOCore
import NIOPosix
package import NIOSSL

/// A simulated Twitch on a real socket. The server answers like ``ScriptedPeer``, and tests can
/// control it.
package final class TestTwitch: Sendable {
  /// The state that belongs to the event loop.
  private final class Core {
    var clients: [Client] = []
    var script = ScriptedPeer.Script()
    let heard: Recorded

    init(_ heard: Recorded) { self.heard = heard }
  }

  private final class Client: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let core: Core
    private let number: Int
    private(set) var peer: ScriptedPeer
    private var splitter = LineSplitter(maximumLength: 65_536)
    private(set) var channel: (any Channel)?
    var isFrozen = false

    init(_ core: Core) {
      self.core = core
      number = core.clients.count
      peer = ScriptedPeer(core.script)
    }

    func handlerAdded(context: ChannelHandlerContext) { channel = context.channel }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard !isFrozen else { return }
      unwrapInboundIn(data).withUnsafeReadableBytes { bytes in
        splitter.receive(bytes) { line in
          let text = String(decoding: line, as: UTF8.self)
          for answer in peer.answer(text) { send(answer + "\r\n") }
          core.heard.append("\(number) \(text)")
        }
      }
    }

    func channelInactive(context: ChannelHandlerContext) { core.heard.append("\(number) closed") }

    func send(_ text: String) {
      channel?.writeAndFlush(ByteBuffer(string: text), promise: nil)
    }
  }

  package let port: Int
  /// `NUMBER LINE` for each line of the client with that number, and `NUMBER closed`.
  package let heard = Recorded()
  private let loop: any EventLoop
  private let listener: any Channel
  private let core: NIOLoopBound<Core>

  package init(
    _ group: any EventLoopGroup, tls: NIOSSLContext? = nil
  ) async throws {
    let (loop, heard) = (group.next(), heard)
    let core = try await loop.submit { NIOLoopBound(Core(heard), eventLoop: loop) }.get()
    listener = try await ServerBootstrap(group: loop)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
          let client = Client(core.value)
          core.value.clients.append(client)
          try pipeline.addHandler(client)
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    port = listener.localAddress?.port ?? 0
    (self.loop, self.core) = (loop, core)
  }

  private func on(_ body: @escaping @Sendable (Core) -> Void) async throws {
    try await loop.submit { [core] in body(core.value) }.get()
  }

  /// Waits until a client has sent a line with this prefix.
  package func wait(for line: String) async { await heard.wait { $0.hasPrefix(line) } }

  /// Sends a message to one client, or to all clients that have joined the channel and are not
  /// frozen.
  package func say(_ id: String, in channel: String = "ada", to number: Int? = nil) async throws {
    try await on { core in
      for (index, client) in core.clients.enumerated()
      where client.peer.joined.contains(channel) && !client.isFrozen && (number ?? index) == index {
        let tags = client.peer.hasTags ? "@id=\(id) " : ""
        client.send("\(tags):bo!bo@bo PRIVMSG #\(channel) :\(id)\r\n")
      }
    }
  }

  /// Sends bytes to one client.
  package func send(_ text: String, to number: Int) async throws {
    try await on { $0.clients[number].send(text) }
  }

  /// Stops answering a client and sending to it.
  package func freeze(_ number: Int) async throws {
    try await on { $0.clients[number].isFrozen = true }
  }

  package func close(_ number: Int) async throws {
    try await on { $0.clients[number].channel?.close(promise: nil) }
  }

  /// Sets the script of later clients.
  package func setScript(_ script: ScriptedPeer.Script) async throws {
    try await on { $0.script = script }
  }

  /// Returns the behaviour of clients that a real server would not accept.
  package func faults() async throws -> [String] {
    try await loop.submit { [core] in core.value.clients.flatMap(\.peer.faults) }.get()
  }

  package func stop() async throws { try await listener.close() }
}
