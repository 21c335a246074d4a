import NIOCore
import NIOPosix

/// A channel to a peer, from the attempt to connect to its end. Belongs to one event loop.
final class PeerChannel {
  /// How many bytes may be unwritten: with answers to what it sends, a peer that does not read fills memory.
  private static let longestBacklog = 1 << 20

  private var channel: (any Channel)?
  private var isReading = true
  private(set) var isClosed = false

  /// Begins to connect. Once only.
  ///
  /// - Parameters:
  ///   - configure: adds the handlers, behind that of TLS.
  ///   - failed: is called, with the reason for people, if there is no connection and nobody has closed it.
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
        case .success(let channel): self.take(channel)
        case .failure(let error): if self.close() { failed(ConnectionFailure.text(error)) }
        }
      }
  }

  private func take(_ channel: any Channel) {
    guard !isClosed else {
      channel.close(promise: nil)
      return
    }
    self.channel = channel
    if !isReading { setReading(false) }
  }

  func write(_ message: some Sendable) { channel?.writeAndFlush(message, promise: nil) }

  /// Stops or resumes reading, so that the peer is held up instead of this program's memory filled.
  func setReading(_ isReading: Bool) {
    self.isReading = isReading
    channel?.setOption(.autoRead, value: isReading).whenComplete { _ in }
  }

  /// Closes it. Returns whether it was open, or might have become so.
  @discardableResult
  func close() -> Bool {
    guard !isClosed else { return false }
    isClosed = true
    channel?.close(promise: nil)
    channel = nil
    return true
  }
}

/// Ends a connection to which too much is unwritten. Comes before TLS, which would wait for a goodbye of the peer.
private final class BacklogHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private struct Unread: Error, CustomStringConvertible {
    var description: String { "the server does not read" }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    context.fireChannelWritabilityChanged()
    // Not within the write that was too much: those who write are not ready for an end, and the network may take it.
    context.eventLoop.assumeIsolated().execute {
      guard !context.channel.isWritable else { return }
      context.fireErrorCaught(Unread())
      context.close(promise: nil)
    }
  }
}
