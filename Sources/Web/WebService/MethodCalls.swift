import ControlInterface
import HTTPTypes
import Hummingbird
import JSON
import NIOCore
import ServiceLifecycle
import Varlink

/// Calls of the control interface by `POST`, with the method's parameters as JSON. With `?more=1` each reply is one
/// line, as it comes.
struct MethodCalls: Sendable {
  let controlSocket: String
  let limits: WebServer.Limits
  let refusals: RefusalCounts

  func respond(to request: Request, _ context: WebContext) async throws -> Response {
    let method = try context.parameters.require("method")
    guard method.utf8.count <= 64, method.utf8.allSatisfy({ $0.isLetter }) else {
      return Reply.error(.badRequest, "method", "that is no method of \(ControlInterface.name)")
    }
    guard context.right == .acting || !ControlInterface.privilegedMethods.contains(method) else {
      refusals.note(.right)
      return Reply.error(.forbidden, "right", "this token is for reading only")
    }
    let bytes = try await body(request, context)
    guard let parameters = try? JSONValue(parsing: String(buffer: bytes)).objectValue else {
      return Reply.error(.badRequest, "parameters", "the parameters are not a JSON object")
    }
    do {
      let client = try await VarlinkClient.connect(path: controlSocket)
      let name = "\(ControlInterface.name).\(method)"
      if request.uri.queryParameters["more"] == "1" {
        return stream(
          try client.callMore(name, JSONValue.object(parameters), returning: JSONValue.self),
          of: client)
      }
      defer { Task { await client.close() } }
      return Reply.json(.object(try await client.callRaw(name, parameters)))
    } catch {
      return Reply.error(error)
    }
  }

  /// The whole body, unless it is too large or takes too long.
  private func body(_ request: Request, _ context: WebContext) async throws -> ByteBuffer {
    let channel = context.channel
    let deadline = channel.eventLoop.scheduleTask(in: TimeAmount(limits.requestTimeout)) {
      channel.close(promise: nil)
    }
    defer { deadline.cancel() }
    return try await request.body.collect(
      upTo: context.right == .acting ? limits.actingBodyBytes : limits.bodyBytes)
  }

  private func stream(
    _ replies: ReplySequence<JSONValue>, of client: VarlinkClient
  ) -> Response {
    let body = ResponseBody { writer in
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
