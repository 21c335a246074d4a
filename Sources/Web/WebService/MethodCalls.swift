import ControlInterface
import HTTPTypes
import Hummingbird
import JSON
import NIOCore
import RateLimiting
import ServiceLifecycle
import Varlink

/// Calls methods of the control interface for `POST` requests. The body of a request contains the
/// method's parameters as JSON. With `?more=1`, each reply is sent as one line when it arrives.
struct MethodCalls: Sendable {
  let controlSocket: String
  let control: AccessControl
  let limits: WebServer.Limits
  let refusals: PageRefusalCounts
  let streams: StreamCounts
  private let allowances = ActAllowances()

  func respond(to request: Request, _ context: WebContext) async throws -> Response {
    let method = try context.parameters.require("method")
    guard method.utf8.count <= 64, method.utf8.allSatisfy({ $0.isLetter }) else {
      return Reply.error(
        .badRequest, "method", "the name is not a method of \(ControlInterface.name)")
    }
    if let refusal = refusal(of: method, context) { return refusal }
    let bytes = try await body(request, context)
    guard var parameters = try? JSONValue(parsing: String(buffer: bytes)).objectValue else {
      return Reply.error(.badRequest, "parameters", "the body must be a JSON object")
    }
    if method == "Act" {
      let kind = parameters["kind"]?.stringValue
      let least = max(MethodRoles.least(for: method), MethodRoles.least(forAct: kind))
      if let refusal = refusal("\(method) of this kind", least, context) { return refusal }
      // The name comes from the token alone, so that nobody can act in the name of another person.
      parameters["by"] = context.access?.person.map { .string($0.name) }
    }
    do {
      if request.uri.queryParameters["more"] == "1" {
        return try await stream(method, .object(parameters), context)
      }
      let client = try await VarlinkClient.connect(path: controlSocket)
      defer { Task { await client.close() } }
      return Reply.json(
        .object(try await client.callRaw("\(ControlInterface.name).\(method)", parameters)))
    } catch {
      return Reply.error(error)
    }
  }

  /// Returns a response if the bearer of the request's token may not call a method, or calls
  /// methods too fast.
  func refusal(of method: String, _ context: WebContext) -> Response? {
    let least = MethodRoles.least(for: method)
    if let refusal = refusal(method, least, context) { return refusal }
    // Hosts drag sliders, which are many harmless calls. A platform may block an account after a
    // flood of acts, whoever causes it.
    guard let access = context.access, method == "Act" || (least > .viewer && access.role < .host),
      let wait = allowances.consume(access)
    else { return nil }
    refusals.count(.flood)
    let milliseconds = (wait.nanoseconds + 999_999) / 1_000_000
    let seconds = (milliseconds + 999) / 1_000
    var response = Reply.json(
      [
        "error": .string(RequestGuard.Refusal.flood.rawValue),
        "text": .string("too many acts; wait \(seconds) s"), "waitMs": .integer(milliseconds),
      ], status: RequestGuard.Refusal.flood.status)
    response.headers[.retryAfter] = "\(seconds)"
    return response
  }

  private func refusal(_ what: String, _ least: PageRole, _ context: WebContext) -> Response? {
    guard let role = context.access?.role else { return refusals.response(to: .token) }
    guard role < least else { return nil }
    refusals.count(.right)
    return Reply.json(
      [
        "error": .string(RequestGuard.Refusal.right.rawValue),
        "text": .string(
          "\(what) requires the role \(least.rawValue), and this link has the role "
            + "\(role.rawValue); ask the host for another link"),
        "role": .string(role.rawValue), "requires": .string(least.rawValue),
      ], status: RequestGuard.Refusal.right.status)
  }

  /// Reads the whole body. Throws if the body is too large, and closes the connection if the body
  /// does not arrive in time.
  func body(_ request: Request, _ context: WebContext) async throws -> ByteBuffer {
    let channel = context.channel
    let deadline = channel.eventLoop.scheduleTask(in: TimeAmount(limits.requestTimeout)) {
      channel.close(promise: nil)
    }
    defer { deadline.cancel() }
    do {
      return try await request.body.collect(
        upTo: context.access?.role == .host ? limits.actingBodyBytes : limits.bodyBytes)
    } catch is NIOTooManyBytesError {
      refusals.count(.size)
      throw HTTPError(RequestGuard.Refusal.size.status, message: RequestGuard.Refusal.size.text)
    }
  }

  /// Calls a method that returns several replies. The call ends when the browser disconnects or
  /// does not read, and before the first reply after the bearer lost access.
  func stream(
    _ method: String, _ parameters: JSONValue, _ context: WebContext
  ) async throws(VarlinkClientError) -> Response {
    let client = try await VarlinkClient.connect(path: controlSocket)
    let replies = try client.callMore(
      "\(ControlInterface.name).\(method)", parameters, returning: JSONValue.self)
    let channel = context.channel
    let body = ResponseBody { writer in
      defer { Task { await client.close() } }
      do {
        try await withGracefulShutdownHandler {
          for try await reply in replies {
            guard control.isValid(context.access) else { break }
            let deadline = channel.eventLoop.scheduleTask(in: TimeAmount(limits.writeTimeout)) {
              streams.countSlow()
              channel.close(promise: nil)
            }
            defer { deadline.cancel() }
            try await writer.write(ByteBuffer(bytes: reply.serialized() + [10]))
          }
        } onGracefulShutdown: {
          Task { await client.close() }
        }
      } catch let error as VarlinkClientError {
        guard case .remote(let error) = error else { throw error }
        let line: JSONValue = [
          "error": .string(error.name), "parameters": .object(error.parameters),
        ]
        try await writer.write(ByteBuffer(bytes: line.serialized() + [10]))
      }
      try await writer.finish(nil)
    }
    return Response(
      status: .ok,
      headers: [.contentType: "application/x-ndjson", .cacheControl: "no-store"], body: body)
  }
}

extension UInt8 {
  fileprivate var isLetter: Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
  }
}
