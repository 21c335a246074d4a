import Ingest
import NIOCore
import NIOEmbedded

/// A connection without a socket. The test acts as its event loop.
final class EmbeddedConnection {
  /// Counts how often the connection requests data.
  private final class ReadCounter: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    var reads = 0
    func read(context: ChannelHandlerContext) {
      reads += 1
      context.read()
    }
  }

  /// Holds back written data, like a socket whose peer does not read.
  private final class WriteHolder: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      held.append(promise)
    }
    func handlerRemoved(context: ChannelHandlerContext) {
      for promise in held { promise?.fail(ChannelError.ioOnClosedChannel) }
    }
    private var held: [EventLoopPromise<Void>?] = []
  }

  let channel = EmbeddedChannel()
  private let counter = ReadCounter()

  /// - Parameter isRead: Whether the peer reads the data that the connection writes.
  init(
    _ sink: RecordingSink, isRead: Bool = true, memory: IngestMemory? = nil,
    slot: ConnectionSlot? = nil, _ change: (inout IngestConfiguration) -> Void = { _ in }
  ) throws {
    var configuration = IngestConfiguration()
    configuration.now = { 1000 }
    change(&configuration)
    if !isRead { try channel.pipeline.syncOperations.addHandler(WriteHolder()) }
    try channel.pipeline.syncOperations.addHandlers([
      counter,
      IngestConnection(configuration: configuration, sink: sink, memory: memory, slot: slot),
    ])
    channel.connect(to: try SocketAddress(unixDomainSocketPath: "/ingest"), promise: nil)
  }

  /// The number of times that the connection has requested data.
  var reads: Int { counter.reads }

  /// Passes bytes to the connection.
  func send(_ bytes: some Sequence<UInt8>) throws {
    try channel.writeInbound(ByteBuffer(bytes: bytes))
  }
  func send(_ lines: String) throws { try send(lines.utf8) }

  /// Returns the answers of the connection since the last call.
  func answers() throws -> String {
    var text = ""
    while let buffer = try channel.readOutbound(as: ByteBuffer.self) {
      text += String(buffer: buffer)
    }
    return text
  }

  func fire(_ event: some Sendable) { channel.pipeline.fireUserInboundEventTriggered(event) }

  /// Advances the time for scheduled tasks of the connection.
  func pass(_ time: TimeAmount) { channel.embeddedEventLoop.advanceTime(by: time) }

  /// Whether the connection has closed itself.
  var isClosed: Bool {
    channel.embeddedEventLoop.run()
    return !channel.isActive
  }
}
