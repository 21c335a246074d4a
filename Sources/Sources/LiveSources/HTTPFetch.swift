package import NIOCore
import NIOHTTP1
import NIOPosix

/// Where something is to be fetched: `http://HOST[:PORT]/PATH` or with `https`.
package struct HTTPAddress: Equatable, Sendable, CustomStringConvertible {
  package var server: PeerAddress
  package var isEncrypted: Bool
  /// With its query; begins with a slash.
  package var path: String

  /// `nil` for any other text.
  package init?(_ text: String) {
    let rest: Substring
    if text.hasPrefix("http://") {
      (isEncrypted, rest) = (false, text.dropFirst(7))
    } else if text.hasPrefix("https://") {
      (isEncrypted, rest) = (true, text.dropFirst(8))
    } else {
      return nil
    }
    let host = rest.prefix { $0 != "/" && $0 != "?" }
    let tail = rest.dropFirst(host.count)
    guard let server = PeerAddress(String(host), defaultPort: isEncrypted ? 443 : 80),
      // Of user names and passwords in addresses everything that prints them would have to know.
      !host.contains("@"), tail.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    self.server = server
    path = tail.hasPrefix("/") ? String(tail) : "/" + tail
  }

  package var description: String { "\(isEncrypted ? "https" : "http")://\(server)\(path)" }

  /// Another resource of the same server.
  package func with(path: String) -> HTTPAddress {
    var address = self
    address.path = path
    return address
  }
}

/// The answer of a server.
package struct HTTPAnswer: Sendable {
  package var status: Int
  package var body: [UInt8]

  package init(status: Int, body: [UInt8]) {
    self.status = status
    self.body = body
  }
}

/// Fetches one resource over a connection of its own. Belongs to one event loop.
package final class HTTPFetch {
  /// The longest body that is taken, in bytes.
  package static let longestBody = 4 << 20
  private static let timeout = TimeAmount.seconds(5)

  private var channel: (any Channel)?
  private var timer: Scheduled<Void>?
  private var completion: ((Result<HTTPAnswer, HTTPFailure>) -> Void)?

  /// Begins. `completion` is called once, unless ``cancel()`` was called before.
  package init(
    _ address: HTTPAddress, security: PeerSecurity?, eventLoop: any EventLoop,
    completion: @escaping (Result<HTTPAnswer, HTTPFailure>) -> Void
  ) {
    self.completion = completion
    let fetch = NIOLoopBound(self, eventLoop: eventLoop)
    let security = NIOLoopBound(security, eventLoop: eventLoop)
    timer = eventLoop.assumeIsolated().scheduleTask(in: Self.timeout) {
      self.finish(.failure(HTTPFailure(reason: "no answer in time")))
    }
    ClientBootstrap(group: eventLoop)
      .connectTimeout(Self.timeout)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          if let security = security.value {
            try pipeline.addHandler(security.handler(host: address.server.host))
          }
          try pipeline.addHTTPClientHandlers()
          try pipeline.addHandler(HTTPHandler(address) { fetch.value.finish($0) })
        }
      }
      .connect(host: address.server.host, port: address.server.port).assumeIsolated()
      .whenComplete { result in
        switch result {
        case .success(let channel):
          if self.completion == nil { channel.close(promise: nil) } else { self.channel = channel }
        case .failure(let error):
          self.finish(.failure(HTTPFailure(reason: ConnectionFailure.text(error))))
        }
      }
  }

  private func finish(_ result: Result<HTTPAnswer, HTTPFailure>) {
    let completion = completion
    cancel()
    completion?(result)
  }

  /// Ends it; nothing is called any more.
  package func cancel() {
    completion = nil
    timer?.cancel()
    timer = nil
    channel?.close(promise: nil)
    channel = nil
  }
}

/// Why there is no answer, for people.
package struct HTTPFailure: Error, Equatable, Sendable {
  package var reason: String

  package init(reason: String) { self.reason = reason }
}

private final class HTTPHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundOut = HTTPClientRequestPart

  private let address: HTTPAddress
  private var answer: HTTPAnswer?
  private let completion: (Result<HTTPAnswer, HTTPFailure>) -> Void

  init(
    _ address: HTTPAddress, completion: @escaping (Result<HTTPAnswer, HTTPFailure>) -> Void
  ) {
    self.address = address
    self.completion = completion
  }

  func channelActive(context: ChannelHandlerContext) {
    var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: address.path)
    head.headers.add(name: "Host", value: address.server.description)
    head.headers.add(name: "Connection", value: "close")
    head.headers.add(name: "User-Agent", value: "livehost-source")
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): answer = HTTPAnswer(status: Int(head.status.code), body: [])
    case .body(let bytes):
      answer?.body.append(contentsOf: bytes.readableBytesView)
      if (answer?.body.count ?? 0) > HTTPFetch.longestBody {
        completion(.failure(HTTPFailure(reason: "the answer is too long")))
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
