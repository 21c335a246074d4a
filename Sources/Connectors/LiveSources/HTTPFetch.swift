package import NIOCore
import NIOHTTP1

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
    timer = eventLoop.assumeIsolated().scheduleTask(in: timeout) {
      if channel.close() { completion(.failure(HTTPFailure(reason: "the request timed out"))) }
    }
    channel.connect(
      to: request.address.server, security: security, timeout: timeout, eventLoop: eventLoop,
      configure: { [self] channel in
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHTTPClientHandlers()
        try pipeline.addHandler(HTTPHandler(request) { [self] in finish($0) })
      },
      failed: { [self] reason in
        timer.cancel()
        completion(.failure(HTTPFailure(reason: reason)))
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

/// A human-readable reason why a request has no response.
package struct HTTPFailure: Error, Equatable, Sendable {
  package var reason: String

  package init(reason: String) { self.reason = reason }
}

private final class HTTPHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundOut = HTTPClientRequestPart

  private let request: HTTPRequest
  private var answer: HTTPAnswer?
  private let completion: (Result<HTTPAnswer, HTTPFailure>) -> Void

  init(
    _ request: HTTPRequest, completion: @escaping (Result<HTTPAnswer, HTTPFailure>) -> Void
  ) {
    self.request = request
    self.completion = completion
  }

  func channelActive(context: ChannelHandlerContext) {
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
    case .head(let head): answer = HTTPAnswer(status: Int(head.status.code), body: [])
    case .body(let bytes):
      answer?.body.append(contentsOf: bytes.readableBytesView)
      if (answer?.body.count ?? 0) > HTTPFetch.longestBody {
        completion(.failure(HTTPFailure(reason: "the response is too long")))
      }
    case .end: if let answer { completion(.success(answer)) }
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    completion(.failure(HTTPFailure(reason: ConnectionFailure.text(error))))
  }

  func channelInactive(context: ChannelHandlerContext) {
    completion(.failure(HTTPFailure(reason: "the connection was closed")))
  }
}
