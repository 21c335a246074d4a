import JSON
import LiveSources
import NIOCore
import RateLimiting
import SystemSupport

/// Requests to the servers over a connection that may be lost. Each request completes exactly once,
/// with the answer, or with `nil` if no answer arrives in time. Confined to one event loop.
final class NatsRequests {
  private struct Request {
    let deadline: Instant
    let answered: (NatsMessage?) -> Void
  }

  private var client: NatsClient?
  private(set) var isConnected = false
  private var open: [String: Request] = [:]
  private var nextToken = 1

  /// Returns a unique token for answers.
  func token() -> String {
    defer { nextToken += 1 }
    return "t\(nextToken)"
  }

  /// Publishes a message. If no request waits for the answer, ``answer(_:)`` returns `false` for
  /// it.
  func publish(
    _ subject: String, token: String? = nil, headers: [(String, String)] = [], _ body: [UInt8] = []
  ) { client?.publish(subject, token: token, headers: headers, body) }

  /// Publishes a message and waits for one answer; `nil` if none arrives in time.
  func request(
    _ subject: String, headers: [(String, String)] = [], _ body: [UInt8] = [], within: Interval,
    answered: @escaping (NatsMessage?) -> Void
  ) {
    guard client != nil, isConnected else { return answered(nil) }
    let token = expect(within: within, answered)
    publish(subject, token: token, headers: headers, body)
  }

  /// Starts to wait for one message to a new token, and returns the token.
  func expect(within: Interval, _ answered: @escaping (NatsMessage?) -> Void) -> String {
    let token = token()
    open[token] = Request(deadline: SourceDelivery.now + within, answered: answered)
    return token
  }

  /// Returns the subject of messages to a token.
  func subject(of token: String) -> String? { client.map { "\($0.inbox).\(token)" } }

  /// Passes an answer to the request that waits for it. Returns whether there is such a request.
  func answer(_ message: NatsMessage) -> Bool {
    guard let token = message.token, let request = open.removeValue(forKey: token) else {
      return false
    }
    request.answered(message)
    return true
  }

  /// Completes the requests that have timed out, with `nil`. Must be called several times per
  /// second.
  func expire() {
    let now = SourceDelivery.now
    for (token, request) in open where now >= request.deadline {
      open[token] = nil
      request.answered(nil)
    }
  }

  /// Records that the first connection is made.
  func connected(_ client: NatsClient) { (self.client, isConnected) = (client, true) }

  /// Records that a lost connection was made again.
  func connected() { isConnected = true }

  /// Completes all outstanding requests with `nil`, because the connection is lost.
  func disconnected() {
    isConnected = false
    for request in exchange(&open, with: [:]).values { request.answered(nil) }
  }

  /// Closes the connection once all published messages are written. Calls `closed` afterwards, on
  /// any thread.
  func close(_ closed: @escaping @Sendable () -> Void) {
    guard let client else { return closed() }
    self.client = nil
    client.close(closed)
  }
}

struct NatsCalls: Sendable {
  let requests: NIOLoopBound<NatsRequests>
  let loop: any EventLoop

  func message(
    _ subject: String, headers: [(String, String)] = [], _ body: [UInt8] = [],
    within: Interval = .seconds(5)
  ) async throws -> NatsMessage? {
    try await loop.flatSubmit { [requests, loop] in
      let promise = loop.makePromise(of: NatsMessage?.self)
      requests.value.request(subject, headers: headers, body, within: within) {
        promise.succeed($0)
      }
      return promise.futureResult
    }.get()
  }

  /// Sends a request for JSON and returns the answer; `nil` if there was none.
  func ask(
    _ subject: String, _ body: JSONValue? = nil, headers: [(String, String)] = []
  ) async throws -> JSONValue? {
    try await message(subject, headers: headers, body?.serialized() ?? []).flatMap { message in
      // If nobody subscribes to the subject, the server sends a status instead of an answer.
      if let status = message.status { return ["error": ["code": .integer(Int64(status))]] }
      return try? JSONValue(parsing: message.bytes)
    }
  }

  /// No answer arrived, so the request may or may not have been carried out.
  struct NoAnswer: Error {}

  /// Stores a message in a stream. Returns its sequence; `nil` if the servers refuse the message.
  func store(
    _ subject: String, _ body: [UInt8], expecting sequence: UInt64? = nil
  ) async throws -> UInt64? {
    var headers: [(String, String)] = []
    if let sequence { headers = [("Nats-Expected-Last-Subject-Sequence", "\(sequence)")] }
    let message = try await message(subject, headers: headers, body)
    guard let reply = message.flatMap({ try? JSONValue(parsing: $0.bytes) }) else {
      throw NoAnswer()
    }
    return LogMessage.sequence(of: reply)
  }
}
