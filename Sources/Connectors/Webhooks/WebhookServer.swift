import JSON
package import LiveSources
package import NIOCore
import NIOHTTP1
import NIOPosix

/// The callbacks of a webhook server, on its event loop.
package struct WebhookEvents {
  package var opened: () -> Void = {}
  /// Called with a human-readable reason if the server cannot listen.
  package var failed: (String) -> Void = { _ in }
  /// Called with each complete delivery. The sender waits for ``WebhookServer/answer(_:_:)``.
  package var received: (_ id: Int, WebhookDelivery, _ bytes: [UInt8]) -> Void = { _, _, _ in }
  /// Called when the sender of a delivery has disconnected before the answer.
  package var left: (_ id: Int) -> Void = { _ in }
  /// Called with a human-readable reason when a request was refused.
  package var refused: (String) -> Void = { _ in }

  package init() {}
}

/// An HTTP/1.1 server that receives the deliveries on each connection one after another. Belongs to
/// one event loop.
package final class WebhookServer {
  package struct Limits: Sendable {
    /// How long a request may take to arrive after the connection was opened or the previous
    /// request was answered.
    package var request = TimeAmount.seconds(10)
    /// The maximum number of concurrent connections.
    package var connections = 64

    package init() {}
  }

  private let gate: WebhookGate
  private let limits: Limits
  private let eventLoop: any EventLoop
  private let events: WebhookEvents
  private var listener: (any Channel)?
  private var handlers: [Int: RequestHandler] = [:]
  private var connections = 0
  private var lastID = 0
  private var isStopped = false

  package init(
    _ gate: WebhookGate, limits: Limits = Limits(), eventLoop: any EventLoop, events: WebhookEvents
  ) {
    self.gate = gate
    self.limits = limits
    self.eventLoop = eventLoop
    self.events = events
  }

  /// Starts to listen. `events.opened` or `events.failed` reports the result.
  package func start(at address: PeerAddress) {
    let server = NIOLoopBound(self, eventLoop: eventLoop)
    ServerBootstrap(group: eventLoop)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try server.value.accept(channel) }
      }
      .bind(host: address.host, port: address.port).assumeIsolated().whenComplete { result in
        switch result {
        case .success(let channel):
          guard !self.isStopped else { return channel.close(promise: nil) }
          self.listener = channel
          self.events.opened()
        case .failure(let error): self.events.failed(ConnectionFailure.text(error))
        }
      }
  }

  /// The port of the server, or `nil` before it listens.
  package var port: Int? { listener?.localAddress?.port }

  private func accept(_ channel: any Channel) throws {
    guard connections < limits.connections, !isStopped else {
      events.refused("more than \(limits.connections) concurrent connections")
      // Deferred, because the channel is not registered yet.
      return eventLoop.assumeIsolated().execute { channel.close(promise: nil) }
    }
    connections += 1
    channel.closeFuture.assumeIsolated().whenComplete { _ in self.connections -= 1 }
    let pipeline = channel.pipeline.syncOperations
    var headers = NIOHTTPDecoderLimitConfiguration()
    headers.maxHeaderFieldSize = 8 << 10
    headers.maxHeaderListSize = 32 << 10
    headers.maxHeaderFieldCount = 64
    try pipeline.configureHTTPServerPipeline(
      withPipeliningAssistance: false, withErrorHandling: false,
      withEncoderConfiguration: .init(),
      withDecoderLimitConfiguration: headers)
    try pipeline.addHandler(RequestHandler(self, gate, limits.request))
  }

  /// Sends the answer to a delivery.
  package func answer(_ id: Int, _ answer: WebhookAnswer) {
    handlers.removeValue(forKey: id)?.answer(answer)
  }

  /// Stops accepting requests. Waiting requests are still answered.
  package func stop() {
    isStopped = true
    listener?.close(promise: nil)
    listener = nil
  }

  // MARK: Connections

  fileprivate func received(
    _ delivery: WebhookDelivery, _ bytes: [UInt8], by handler: RequestHandler
  ) -> Int {
    lastID += 1
    let id = lastID
    handlers[id] = handler
    // Deferred, because the answer may be sent within the call of `events.received`.
    eventLoop.assumeIsolated().execute { [self] in
      guard handlers[id] != nil else { return }
      if isStopped {
        answer(id, WebhookAnswer(503, "the source is stopping"))
      } else {
        events.received(id, delivery, bytes)
      }
    }
    return id
  }

  fileprivate func refused(_ reason: String) { events.refused(reason) }

  fileprivate func left(_ id: Int) {
    if handlers.removeValue(forKey: id) != nil { events.left(id) }
  }
}

/// Handles one connection. Processes a request only after the previous one was answered.
private final class RequestHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private enum State {
    case idle
    case reading(HTTPRequestHead)
    /// Discarding the rest of a refused body, because a sender may read the answer only after it
    /// has sent the whole body.
    case refusing(WebhookAnswer)
    case waiting(Int, keepsAlive: Bool)
    /// The last answer has been sent; further input is ignored.
    case ending
  }

  private let server: WebhookServer
  private let gate: WebhookGate
  private let patience: TimeAmount
  private var state = State.idle
  /// The body received so far. Stored outside ``state``, because copying the body for each piece
  /// would take quadratic time.
  private var body: [UInt8] = []
  private var isFirst = true
  private var context: ChannelHandlerContext?
  private var timer: Scheduled<Void>?

  init(_ server: WebhookServer, _ gate: WebhookGate, _ patience: TimeAmount) {
    self.server = server
    self.gate = gate
    self.patience = patience
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    startTimer(context)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch (unwrapInboundIn(data), state) {
    case (.head(let head), .idle): begin(context, head)
    case (.body(let part), .reading):
      body.append(contentsOf: part.readableBytesView)
      if body.count > gate.maximumBytes { refuse(context, gate.tooLong) }
    case (.end, .reading(let head)): process(context, head)
    case (.end, .refusing(let answer)): respond(context, answer, keepsAlive: false)
    case (.head, .waiting(let id, _)):
      server.left(id)
      refuse(context, WebhookAnswer(400, "a request arrived before the previous one was answered"))
    default: break
    }
  }

  private func begin(_ context: ChannelHandlerContext, _ head: HTTPRequestHead) {
    if let answer = gate.refusal(of: head) {
      server.refused(answer.text)
      // The body of a request that is too large is not read.
      if answer.status == 413 {
        respond(context, answer, keepsAlive: false)
      } else {
        state = .refusing(answer)
      }
      return
    }
    if head.headers.first(name: "Expect")?.lowercased() == "100-continue" {
      context.writeAndFlush(
        wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))),
        promise: nil)
    }
    state = .reading(head)
  }

  private func process(_ context: ChannelHandlerContext, _ head: HTTPRequestHead) {
    timer?.cancel()
    let bytes = body
    body = []
    let body: JSONValue
    do { body = try gate.value(of: bytes, head.headers) } catch { return refuse(context, error) }
    var headers: [String: String] = [:]
    for (name, value) in head.headers {
      let name = name.lowercased()
      if !DeliveredValue.hiddenHeaders.contains(name), headers[name] == nil {
        headers[name] = value
      }
    }
    let delivery = WebhookDelivery(body: body, headers: headers)
    if let answer = gate.refusal(of: delivery, bytes, head) { return refuse(context, answer) }
    let id = server.received(delivery, bytes, by: self)
    state = .waiting(id, keepsAlive: head.isKeepAlive)
  }

  func answer(_ answer: WebhookAnswer) {
    guard case .waiting(_, let keepsAlive) = state, let context else { return }
    respond(context, answer, keepsAlive: keepsAlive && answer.status == 200)
  }

  private func refuse(_ context: ChannelHandlerContext, _ answer: WebhookAnswer) {
    server.refused(answer.text)
    respond(context, answer, keepsAlive: false)
  }

  private func respond(
    _ context: ChannelHandlerContext, _ answer: WebhookAnswer, keepsAlive: Bool
  ) {
    let text = answer.status == 200 ? answer.text : answer.text + "\n"
    var head = HTTPResponseHead(
      version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status))
    head.headers.add(name: "Content-Type", value: "text/plain; charset=utf-8")
    head.headers.add(name: "Content-Length", value: "\(text.utf8.count)")
    if answer.status == 405 { head.headers.add(name: "Allow", value: "POST") }
    if answer.isTemporary { head.headers.add(name: "Retry-After", value: "5") }
    if !keepsAlive { head.headers.add(name: "Connection", value: "close") }
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    timer?.cancel()
    guard keepsAlive else {
      state = .ending
      body = []
      // Closes only the output, and discards further input. Closing both immediately could make the
      // sender lose the answer.
      context.close(mode: .output, promise: nil)
      timer = context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(2)) {
        context.close(promise: nil)
      }
      return
    }
    isFirst = false
    state = .idle
    startTimer(context)
  }

  private func startTimer(_ context: ChannelHandlerContext) {
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: patience) { [self] in
      switch state {
      case .idle where !isFirst: context.close(promise: nil)
      case .refusing(let answer): respond(context, answer, keepsAlive: false)
      default: refuse(context, WebhookAnswer(408, "the request took too long"))
      }
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard error is HTTPParserError else { return context.close(promise: nil) }
    if case .ending = state { return context.close(promise: nil) }
    refuse(context, WebhookAnswer(400, "the request is not valid HTTP"))
  }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    self.context = nil
    if case .waiting(let id, _) = state { server.left(id) }
    state = .ending
  }
}
