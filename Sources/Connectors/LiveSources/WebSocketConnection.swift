package import NIOCore
import NIOHTTP1
import NIOWebSocket

/// The callbacks of a WebSocket, on its event loop.
package struct WebSocketEvents {
  package var opened: () -> Void = {}
  /// Called with each complete text message.
  package var received: (UnsafeRawBufferPointer) -> Void = { _ in }
  /// Called when the peer has answered a ping.
  package var ponged: () -> Void = {}
  /// Called when all data that is available for now has been processed.
  package var drained: () -> Void = {}
  /// Called exactly once, when the WebSocket closes or cannot be opened.
  package var closed: (WebSocketEnd) -> Void = { _ in }

  package init() {}
}

/// The reason why a WebSocket ended.
package struct WebSocketEnd: Equatable, Sendable {
  /// The peer's close code. `nil` if the peer sent none.
  package var code: Int?
  /// A human-readable reason.
  package var reason: String

  package init(code: Int? = nil, reason: String) {
    self.code = code
    self.reason = reason
  }
}

/// A WebSocket client (RFC 6455) that assembles fragments, limits the size of messages, and answers
/// pings. Belongs to one event loop.
package final class WebSocketConnection {
  /// The maximum size of a message, in bytes.
  package static let longestMessage = 1 << 20
  private static let timeout = TimeAmount.seconds(10)

  private let events: WebSocketEvents
  private let channel = PeerChannel()

  /// Starts to connect. `protocolName` selects a subprotocol, if the server has several.
  package init(
    to address: PeerAddress, path: String = "/", protocolName: String? = nil,
    security: PeerSecurity?, eventLoop: any EventLoop, events: WebSocketEvents
  ) {
    self.events = events
    let connection = NIOLoopBound(self, eventLoop: eventLoop)
    var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path)
    head.headers.add(name: "Host", value: address.description)
    if let protocolName {
      head.headers.add(name: "Sec-WebSocket-Protocol", value: protocolName)
    }
    channel.connect(
      to: address, security: security, eventLoop: eventLoop,
      configure: { try Self.configure($0, head, connection) },
      failed: { events.closed(WebSocketEnd(reason: $0)) })
  }

  private static func configure(
    _ channel: any Channel, _ request: HTTPRequestHead,
    _ connection: NIOLoopBound<WebSocketConnection>
  ) throws {
    let upgrader = NIOTypedWebSocketClientUpgrader<Void>(
      maxFrameSize: longestMessage,
      // NIO's automatic error handling would close the connection without reporting the reason.
      enableAutomaticErrorHandling: false,
      upgradePipelineHandler: { channel, _ in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            WebSocketHandler(connection.value.ownEvents))
        }
      })
    var configuration = NIOUpgradableHTTPClientPipelineConfiguration(
      upgradeConfiguration: NIOTypedHTTPClientUpgradeConfiguration(
        upgradeRequestHead: request, upgraders: [upgrader],
        notUpgradingCompletionHandler: { channel in
          channel.eventLoop.makeFailedFuture(NotAWebSocket())
        }))
    // The server may send data in the same segment as its handshake response.
    configuration.leftOverBytesStrategy = .forwardBytes
    let upgraded = try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
      configuration: configuration)
    let timeout = channel.eventLoop.assumeIsolated().scheduleTask(in: Self.timeout) {
      connection.value.end(WebSocketEnd(reason: "the handshake timed out"))
    }
    upgraded.assumeIsolated().whenComplete { result in
      timeout.cancel()
      if case .failure(let error) = result {
        connection.value.end(
          WebSocketEnd(
            reason: error is NotAWebSocket
              ? "the server does not support WebSocket" : ConnectionFailure.text(error)))
        channel.close(promise: nil)
      }
    }
  }

  private struct NotAWebSocket: Error {}

  private var ownEvents: WebSocketEvents {
    var own = WebSocketEvents()
    own.opened = { [self] in if !channel.isClosed { events.opened() } }
    own.received = { [self] in if !channel.isClosed { events.received($0) } }
    own.ponged = { [self] in if !channel.isClosed { events.ponged() } }
    own.drained = { [self] in if !channel.isClosed { events.drained() } }
    own.closed = { [self] in end($0) }
    return own
  }

  private func end(_ end: WebSocketEnd) {
    if channel.close() { events.closed(end) }
  }

  /// Writes a message. Call this only after `events.opened`.
  package func send(_ text: [UInt8]) {
    channel.write(
      WebSocketFrame(
        fin: true, opcode: .text, maskKey: .random(), data: ByteBuffer(bytes: text)))
  }

  /// Sends a ping; `events.ponged` reports the reply. Call this only after `events.opened`.
  package func ping() {
    channel.write(
      WebSocketFrame(fin: true, opcode: .ping, maskKey: .random(), data: ByteBuffer()))
  }

  /// Pauses or resumes reading. While reading is paused, TCP slows the peer down.
  package func setReading(_ isReading: Bool) { channel.setReading(isReading) }

  /// Closes the connection. No callbacks follow.
  package func close() { channel.close() }
}

/// Assembles messages and handles control frames.
private final class WebSocketHandler: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  private let events: WebSocketEvents
  /// The fragments received so far of the current message, or `nil` between messages.
  private var message: ByteBuffer?
  private var isText = true
  private var end: WebSocketEnd?

  init(_ events: WebSocketEvents) { self.events = events }

  func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { events.opened() }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard end == nil else { return }
    let frame = unwrapInboundIn(data)
    guard frame.maskKey == nil else {
      return fail(context, .protocolError, "the server masks its frames")
    }
    switch frame.opcode {
    case .ping: send(context, .pong, frame.data)
    case .pong: events.ponged()
    case .connectionClose: closed(context, frame.data)
    case .text, .binary:
      guard message == nil else {
        return fail(context, .protocolError, "a message began within another message")
      }
      isText = frame.opcode == .text
      append(context, frame)
    case .continuation:
      guard message != nil else {
        return fail(context, .protocolError, "a continuation frame arrived outside of a message")
      }
      append(context, frame)
    default: fail(context, .protocolError, "the server sent an unknown kind of frame")
    }
  }

  private func append(_ context: ChannelHandlerContext, _ frame: WebSocketFrame) {
    var message = self.message ?? ByteBuffer()
    guard message.readableBytes + frame.length <= WebSocketConnection.longestMessage else {
      return fail(context, .messageTooLarge, "a message was too long")
    }
    var data = frame.data
    message.writeBuffer(&data)
    self.message = message
    guard frame.fin else { return }
    self.message = nil
    guard isText else {
      return fail(context, .unacceptableData, "a message was not text")
    }
    message.withUnsafeReadableBytes(events.received)
  }

  private func closed(_ context: ChannelHandlerContext, _ data: ByteBuffer) {
    var data = data
    let code = data.readInteger(as: UInt16.self).map(Int.init)
    let text = data.readString(length: data.readableBytes) ?? ""
    end = WebSocketEnd(
      code: code,
      reason: text.isEmpty
        ? "the server closed the connection" : String(text.unicodeScalars.prefix(120)))
    var answer = ByteBuffer()
    if let code { answer.writeInteger(UInt16(code)) }
    send(context, .connectionClose, answer)
    context.close(promise: nil)
  }

  private func fail(
    _ context: ChannelHandlerContext, _ code: WebSocketErrorCode, _ reason: String
  ) {
    end = end ?? WebSocketEnd(reason: reason)
    var data = ByteBuffer()
    data.write(webSocketErrorCode: code)
    send(context, .connectionClose, data)
    context.close(promise: nil)
  }

  private func send(
    _ context: ChannelHandlerContext, _ opcode: WebSocketOpcode, _ data: ByteBuffer
  ) {
    let frame = WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
    context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
  }

  func channelReadComplete(context: ChannelHandlerContext) { events.drained() }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error as? NIOWebSocketError {
    case .invalidFrameLength?: fail(context, .messageTooLarge, "a message was too long")
    case .fragmentedControlFrame?, .multiByteControlFrameLength?:
      fail(context, .protocolError, "the server violated the WebSocket protocol")
    case nil:
      end = end ?? WebSocketEnd(reason: ConnectionFailure.text(error))
      context.close(promise: nil)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    events.closed(end ?? WebSocketEnd(reason: "the connection was closed"))
  }
}
