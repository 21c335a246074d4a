import NIOCore
import NIOPosix

/// A channel to a peer, from the first attempt to connect until it closes. Belongs to one event
/// loop.
final class PeerChannel {
  /// The maximum number of unwritten bytes. Without a limit, a peer that never reads could make the
  /// replies to it fill memory.
  private static let longestBacklog = 1 << 20

  private var channel: (any Channel)?
  private var isReading = true
  private(set) var isClosed = false

  /// Starts to connect. If that fails, calls `failed` with a human-readable reason, unless
  /// ``close()`` was called before. Call this only once. `configure` adds the handlers after the
  /// TLS handler.
  func connect(
    to address: PeerAddress, security: PeerSecurity?, timeout: TimeAmount = .seconds(10),
    eventLoop: any EventLoop, configure: @escaping (any Channel) throws -> Void,
    failed: @escaping (String) -> Void
  ) {
    let initialize = NIOLoopBound(
      { (channel: any Channel) in
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(BacklogHandler())
        if let security { try pipeline.addHandler(security.handler(host: address.host)) }
        try configure(channel)
      }, eventLoop: eventLoop)
    ClientBootstrap(group: eventLoop)
      .connectTimeout(timeout)
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelOption(
        .writeBufferWaterMark, value: .init(low: Self.longestBacklog, high: Self.longestBacklog)
      )
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try initialize.value(channel) }
      }
      .connect(host: address.host, port: address.port).assumeIsolated().whenComplete { result in
        switch result {
        case .success(let channel): self.connected(channel)
        case .failure(let error): if self.close() { failed(ConnectionFailure.text(error)) }
        }
      }
  }

  private func connected(_ channel: any Channel) {
    guard !isClosed else {
      channel.close(promise: nil)
      return
    }
    self.channel = channel
    if !isReading { setReading(false) }
  }

  func write(_ message: some Sendable) { channel?.writeAndFlush(message, promise: nil) }

  /// Pauses or resumes reading. While reading is paused, TCP slows the peer down.
  func setReading(_ isReading: Bool) {
    self.isReading = isReading
    channel?.setOption(.autoRead, value: isReading).whenComplete { _ in }
  }

  /// Closes the channel. Returns whether the channel was open or connecting.
  @discardableResult
  func close() -> Bool {
    guard !isClosed else { return false }
    isClosed = true
    channel?.close(promise: nil)
    channel = nil
    return true
  }
}

/// Closes a connection with too many unwritten bytes. Placed before the TLS handler, because a
/// close that passes through that handler waits for the peer's closing message.
private final class BacklogHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private struct Unread: Error, CustomStringConvertible {
    var description: String { "the server does not read its input" }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    context.fireChannelWritabilityChanged()
    // Closing is deferred because callers do not expect a write to close the connection, and
    // because the network may still accept the data.
    context.eventLoop.assumeIsolated().execute {
      guard !context.channel.isWritable else { return }
      context.fireErrorCaught(Unread())
      context.close(promise: nil)
    }
  }
}
