import NIOCore

/// One of two connections, each of which forwards all bytes that it receives to the other. A
/// connection is read only as fast as the other one accepts bytes.
final class TunnelSplice: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// Opens the other connection, on the same event loop and with a splice in its pipeline.
  typealias Connect = (any EventLoop) -> EventLoopFuture<any Channel>

  private var connect: Connect?
  private var partner: TunnelSplice?
  private var context: ChannelHandlerContext?
  private var wantsRead = false
  /// The bytes that arrived before the other connection was opened. They come from at most one
  /// read.
  private var early: [ByteBuffer]? = []

  init(_ connect: Connect? = nil) { self.connect = connect }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  /// Opens the other connection. This is not done earlier, because a channel ignores requests to
  /// read until it is registered.
  func channelActive(context: ChannelHandlerContext) {
    guard let connect else { return }
    self.connect = nil
    connect(context.eventLoop).assumeIsolated().whenComplete { result in
      guard case .success(let channel) = result else { return self.close() }
      // The splice is looked up only now. Before, there may be several channels, because each
      // address of a host is tried and all but one channel are closed.
      guard let other = try? channel.pipeline.syncOperations.handler(type: TunnelSplice.self),
        self.context?.channel.isActive == true
      else {
        channel.close(promise: nil)
        return self.close()
      }
      self.join(other)
    }
  }

  private func join(_ other: TunnelSplice) {
    partner = other
    other.partner = self
    for (from, to) in [(self, other), (other, self)] {
      for buffer in from.early ?? [] {
        to.context?.write(from.wrapOutboundOut(buffer), promise: nil)
      }
      from.early = nil
      to.context?.flush()
    }
    context?.channel.read()
    other.context?.channel.read()
  }

  private func close() { context?.channel.close(promise: nil) }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    partner?.partner = nil
    partner = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if early != nil {
      early?.append(unwrapInboundIn(data))
    } else {
      partner?.context?.write(wrapOutboundOut(unwrapInboundIn(data)), promise: nil)
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    if early != nil { return }
    guard let other = partner?.context else { return context.close(promise: nil) }
    other.flush()
    if other.channel.isWritable { context.read() } else { wantsRead = true }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    guard context.channel.isWritable, let partner, partner.wantsRead else { return }
    partner.wantsRead = false
    partner.context?.read()
  }

  func channelInactive(context: ChannelHandlerContext) { partner?.context?.close(promise: nil) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
