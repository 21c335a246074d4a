import HTTPTypes
import Hummingbird
import JSON
import NIOCore
import Varlink

/// Creates responses in JSON.
enum Reply {
  static func json(_ value: JSONValue, status: HTTPResponse.Status = .ok) -> Response {
    Response(
      status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: value.serialized() + [10])))
  }

  /// Returns an error response that contains a name for programs and a text for people.
  static func error(_ status: HTTPResponse.Status, _ name: String, _ text: String) -> Response {
    json(["error": .string(name), "text": .string(text)], status: status)
  }

  /// Returns a response with the daemon's error, or with the reason why the daemon did not answer.
  static func error(_ error: VarlinkClientError) -> Response {
    switch error {
    case .remote(let error):
      let name = error.name.split(separator: ".").last.map(String.init) ?? error.name
      return json(
        ["error": .string(name), "parameters": .object(error.parameters)], status: status(of: name))
    case .notReachable, .connectionClosed, .cancelled:
      return Self.error(
        .serviceUnavailable, "unreachable", "livehostd does not answer; is it running?")
    case .invalidParameters, .unexpectedReply, .protocolViolation:
      return Self.error(.badGateway, "unexpected", "\(error)")
    }
  }

  private static func status(of error: String) -> HTTPResponse.Status {
    switch error {
    case "MethodNotFound", "InvalidParameter", "InvalidEvent", "InvalidScenario": .badRequest
    case "PermissionDenied": .forbidden
    case "Busy", "LimitReached": .serviceUnavailable
    case let name where name.hasPrefix("NoSuch"): .notFound
    default: .conflict
    }
  }
}
