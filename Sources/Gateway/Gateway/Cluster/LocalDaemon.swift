import JSON
import LiveSources
import NIOCore
import NIOPosix
import RateLimiting

/// A connection to the local daemon's ingest socket, renewed after the daemon restarts. Confined to
/// one event loop.
final class LocalDaemon {
  struct Events {
    let connected: () -> Void
    /// Called when the daemon has applied and saved everything before these `sync` tokens.
    let acknowledged: ([String]) -> Void
    let writable: () -> Void
    let lost: () -> Void
  }

  private let path: String
  private let eventLoop: any EventLoop
  private var channel: (any Channel)?
  private var lines = LineSplitter(maximumLength: 64 << 10)
  private var isConnecting = false
  private(set) var run = 0
  private(set) var absentSince: Instant? = SourceDelivery.now

  init(path: String, on eventLoop: any EventLoop) {
    (self.path, self.eventLoop) = (path, eventLoop)
  }

  var isConnected: Bool { channel != nil }
  var isWritable: Bool { channel?.isWritable ?? false }

  /// Starts one attempt to connect, unless a connection exists or another attempt is running.
  func connect(_ events: Events) {
    guard channel == nil, !isConnecting else { return }
    isConnecting = true
    let handler = NIOLoopBound(
      Handler(
        received: { [self] in receive($0, events) }, writable: events.writable,
        closed: { [self] in lost(events) }),
      eventLoop: eventLoop)
    ClientBootstrap(group: eventLoop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(handler.value)
        }
      }
      .connect(unixDomainSocketPath: path)
      .assumeIsolated().whenComplete { [self] result in
        isConnecting = false
        guard case .success(let channel) = result else { return }
        self.channel = channel
        run += 1
        absentSince = nil
        lines = LineSplitter(maximumLength: 64 << 10)
        events.connected()
      }
  }

  func write(_ bytes: [UInt8]) {
    channel?.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
  }

  func close() {
    channel?.close(promise: nil)
    channel = nil
  }

  private func receive(_ bytes: UnsafeRawBufferPointer, _ events: Events) {
    var tokens: [String] = []
    lines.receive(bytes) { line in
      guard let value = try? JSONValue(parsing: Array(line)),
        ["synced", "applied"].contains(value["type"]?.stringValue ?? ""),
        let token = value["token"]?.stringValue
      else { return }
      tokens.append(token)
    }
    events.acknowledged(tokens)
  }

  private func lost(_ events: Events) {
    guard channel != nil else { return }
    channel = nil
    absentSince = SourceDelivery.now
    events.lost()
  }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let received: (UnsafeRawBufferPointer) -> Void
    private let writable: () -> Void
    private let closed: () -> Void

    init(
      received: @escaping (UnsafeRawBufferPointer) -> Void, writable: @escaping () -> Void,
      closed: @escaping () -> Void
    ) {
      (self.received, self.writable, self.closed) = (received, writable, closed)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      unwrapInboundIn(data).withUnsafeReadableBytes(received)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
      if context.channel.isWritable { writable() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { closed() }
  }
}
