package import NIOCore
import NIOHTTP1
import NIOTLS

/// Makes one request over a dedicated connection. Belongs to one event loop.
package final class HTTPFetch {
  /// The maximum size of a response body, in bytes.
  package static let longestBody = 4 << 20

  private let channel = PeerChannel()
  private let timer: Scheduled<Void>
  private let completion: (Result<HTTPAnswer, HTTPFailure>) -> Void

  /// Starts the request. Calls `completion` exactly once, unless ``cancel()`` is called before.
  package init(
    _ request: HTTPRequest, security: PeerSecurity?, timeout: TimeAmount = .seconds(5),
    eventLoop: any EventLoop, completion: @escaping (Result<HTTPAnswer, HTTPFailure>) -> Void
  ) {
    self.completion = completion
    let channel = channel
    let progress = SendingProgress()
    timer = eventLoop.assumeIsolated().scheduleTask(in: timeout) {
      guard channel.close() else { return }
      completion(
        .failure(HTTPFailure(reason: "the request timed out", mayBeSent: progress.hasBegun)))
    }
    channel.connect(
      to: request.address.server, security: security, timeout: timeout, eventLoop: eventLoop,
      configure: { [self] channel in
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHTTPClientHandlers()
        try pipeline.addHandler(
          HTTPHandler(request, hasHandshake: security != nil, progress) { [self] in finish($0) })
      },
      failed: { [self] reason in
        timer.cancel()
        completion(.failure(HTTPFailure(reason: reason, mayBeSent: false)))
      })
  }

  private func finish(_ result: Result<HTTPAnswer, HTTPFailure>) {
    timer.cancel()
    if channel.close() { completion(result) }
  }

  /// Cancels the request. `completion` is not called afterwards.
  package func cancel() {
    timer.cancel()
    channel.close()
  }
}

/// The reason why a request has no response.
package struct HTTPFailure: Error, Equatable, Sendable {
  /// A description for people, not for programs.
  package var reason: String
  /// Whether the server may have received the request. If so, a request that changes something must
  /// not be repeated.
  package var mayBeSent: Bool

  package init(reason: String, mayBeSent: Bool = true) {
    self.reason = reason
    self.mayBeSent = mayBeSent
  }
}

/// How far a request has been sent. Shared with the time-out of the request.
private final class SendingProgress {
  /// Whether some of the request may have been sent.
  var hasBegun = false
}

private final class HTTPHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundOut = HTTPClientRequestPart

  private let request: HTTPRequest
  private let hasHandshake: Bool
  private let progress: SendingProgress
  private var answer: HTTPAnswer?
  private let completion: (Result<HTTPAnswer, HTTPFailure>) -> Void

  init(
    _ request: HTTPRequest, hasHandshake: Bool, _ progress: SendingProgress,
    completion: @escaping (Result<HTTPAnswer, HTTPFailure>) -> Void
  ) {
    self.request = request
    self.hasHandshake = hasHandshake
    self.progress = progress
    self.completion = completion
  }

  func channelActive(context: ChannelHandlerContext) {
    if !hasHandshake { send(context) }
  }

  // The request is not written before the handshake is complete: otherwise a rejected certificate
  // could not be distinguished from a connection that broke after the request was sent.
  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted? = event as? TLSUserEvent { send(context) }
    context.fireUserInboundEventTriggered(event)
  }

  private func send(_ context: ChannelHandlerContext) {
    guard !progress.hasBegun else { return }
    progress.hasBegun = true
    var head = HTTPRequestHead(
      version: .http1_1, method: HTTPMethod(rawValue: request.method.rawValue),
      uri: request.address.path)
    head.headers.add(name: "Host", value: request.address.server.description)
    head.headers.add(name: "Connection", value: "close")
    head.headers.add(name: "User-Agent", value: "livehost-source")
    for header in request.headers { head.headers.add(name: header.name, value: header.value) }
    request.authorization?.reveal { head.headers.add(name: "Authorization", value: $0) }
    if let body = request.body {
      head.headers.add(name: "Content-Type", value: body.type)
      head.headers.add(name: "Content-Length", value: "\(body.bytes.count)")
    } else if request.method != .get {
      head.headers.add(name: "Content-Length", value: "0")
    }
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if let body = request.body {
      context.write(
        wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body.bytes)))), promise: nil)
    }
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      answer = HTTPAnswer(
        status: Int(head.status.code), headers: head.headers.map { ($0.name, $0.value) }, body: [])
    case .body(let bytes):
      answer?.body.append(contentsOf: bytes.readableBytesView)
      if (answer?.body.count ?? 0) > HTTPFetch.longestBody {
        fail("the response is too long")
      }
    case .end: if let answer { completion(.success(answer)) }
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    fail(ConnectionFailure.text(error))
  }

  func channelInactive(context: ChannelHandlerContext) {
    fail("the connection was closed")
  }

  private func fail(_ reason: String) {
    completion(.failure(HTTPFailure(reason: reason, mayBeSent: progress.hasBegun)))
  }
}
