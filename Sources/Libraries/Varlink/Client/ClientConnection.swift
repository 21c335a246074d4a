import NIOCore

/// The client's end of a connection, which delivers each reply to the oldest call that awaits one.
/// Confined to the connection's event loop.
final class ClientConnection: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = Never
  typealias OutboundOut = ByteBuffer

  private struct Pending {
    let replies: ReplyQueue
    let wantsMore: Bool
  }

  private var splitter: MessageSplitter
  private var pending = CircularBuffer<Pending>()
  private var context: ChannelHandlerContext?
  private var heldRead = false
  private var failure: VarlinkClientError?

  init(maximumMessageBytes: Int) { splitter = MessageSplitter(maximumBytes: maximumMessageBytes) }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  /// Writes a call, whose replies are added to the queue. A one-way call has no replies.
  func send(_ call: CallMessage, replies: ReplyQueue?, written: EventLoopPromise<Void>?) {
    guard failure == nil, let context else {
      replies?.fail(failure ?? .connectionClosed)
      written?.fail(ChannelError.ioOnClosedChannel)
      return
    }
    if let replies {
      pending.append(Pending(replies: replies, wantsMore: call.mode == .more))
    }
    context.writeAndFlush(wrapOutboundOut(call.encoded()), promise: written)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    splitter.append(&bytes)
    deliver()
  }

  func read(context: ChannelHandlerContext) {
    if pending.first?.replies.isFull == true { heldRead = true } else { context.read() }
  }

  /// Called when the consumer of a full queue has taken a reply.
  func resume() {
    deliver()
    if heldRead, pending.first?.replies.isFull != true {
      heldRead = false
      context?.read()
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.context = nil
    // No more input can arrive, so nothing has to be held back. Replies that are waiting here would
    // otherwise never be delivered.
    deliver(evenIfFull: true)
    end(.connectionClosed)
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  private func deliver(evenIfFull: Bool = false) {
    do {
      while failure == nil, evenIfFull || pending.first?.replies.isFull != true,
        let bytes = try splitter.next()
      { try deliver(ReplyMessage(parsing: bytes)) }
    } catch {
      end(.protocolViolation("\(error)"))
      context?.close(promise: nil)
    }
  }

  private func deliver(_ reply: ReplyMessage) throws(ProtocolViolation) {
    guard let call = pending.first else { throw .replyWithoutCall }
    if reply.continues, !call.wantsMore { throw .continuesWithoutMore }
    if !reply.continues { pending.removeFirst() }
    if let name = reply.error {
      call.replies.fail(.remote(VarlinkError(name: name, parameters: reply.parameters)))
    } else {
      call.replies.push(reply.parameters, isLast: !reply.continues)
    }
  }

  private func end(_ error: VarlinkClientError) {
    if failure == nil { failure = error }
    while let call = pending.popFirst() { call.replies.fail(failure ?? error) }
  }

  private enum ProtocolViolation: Error {
    case replyWithoutCall, continuesWithoutMore
  }
}
