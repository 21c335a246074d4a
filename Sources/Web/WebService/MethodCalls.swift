import ControlInterface
import HTTPTypes
import Hummingbird
import JSON
import NIOCore
import ServiceLifecycle
import Varlink

/// Calls methods of the control interface for `POST` requests. The body of a request contains the
/// method's parameters as JSON. With `?more=1`, each reply is sent as one line when it arrives.
struct MethodCalls: Sendable {
  let controlSocket: String
  let limits: WebServer.Limits
  let refusals: PageRefusalCounts

  func respond(to request: Request, _ context: WebContext) async throws -> Response {
    let method = try context.parameters.require("method")
    guard method.utf8.count <= 64, method.utf8.allSatisfy({ $0.isLetter }) else {
      return Reply.error(
        .badRequest, "method", "the name is not a method of \(ControlInterface.name)")
    }
    guard context.right == .acting || !ControlInterface.privilegedMethods.contains(method) else {
      return refuseReaders()
    }
    let bytes = try await body(request, context)
    guard let parameters = try? JSONValue(parsing: String(buffer: bytes)).objectValue else {
      return Reply.error(.badRequest, "parameters", "the body must be a JSON object")
    }
    do {
      if request.uri.queryParameters["more"] == "1" {
        return try await stream(method, .object(parameters))
      }
      let client = try await VarlinkClient.connect(path: controlSocket)
      defer { Task { await client.close() } }
      return Reply.json(
        .object(try await client.callRaw("\(ControlInterface.name).\(method)", parameters)))
    } catch {
      return Reply.error(error)
    }
  }

  func refuseReaders() -> Response {
    refusals.count(.right)
    return Reply.error(.forbidden, "right", "this token only allows reading")
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
        upTo: context.right == .acting ? limits.actingBodyBytes : limits.bodyBytes)
    } catch is NIOTooManyBytesError {
      refusals.count(.size)
      throw HTTPError(RequestGuard.Refusal.size.status, message: RequestGuard.Refusal.size.text)
    }
  }

  /// Calls a method that returns several replies; ends the call when the browser disconnects.
  func stream(
    _ method: String, _ parameters: JSONValue
  ) async throws(VarlinkClientError) -> Response {
    let client = try await VarlinkClient.connect(path: controlSocket)
    let replies = try client.callMore(
      "\(ControlInterface.name).\(method)", parameters, returning: JSONValue.self)
    let body = ResponseBody { writer in
      defer { Task { await client.close() } }
      do {
        try await withGracefulShutdownHandler {
          for try await reply in replies {
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
