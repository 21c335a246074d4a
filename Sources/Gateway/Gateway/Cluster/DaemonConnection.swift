import NIOCore
import NIOPosix

/// A connection to the ingest socket of the local daemon.
enum DaemonConnection {
  static func open(
    _ path: String, on loop: any EventLoop,
    received: @escaping (UnsafeRawBufferPointer) -> Void, writable: @escaping () -> Void,
    closed: @escaping () -> Void
  ) -> EventLoopFuture<any Channel> {
    let handler = NIOLoopBound(
      Handler(received: received, writable: writable, closed: closed), eventLoop: loop)
    return ClientBootstrap(group: loop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(handler.value)
        }
      }
      .connect(unixDomainSocketPath: path)
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
