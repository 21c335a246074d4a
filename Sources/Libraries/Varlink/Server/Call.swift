package import JSON
import Locking
import SystemSupport
package import UnixSockets

/// A method call, as passed to its handler.
package struct Call: Sendable {
  /// The name of the interface, such as `org.example.ftl`.
  package let interface: String
  /// The name of the method without its interface, such as `Monitor`.
  package let method: String
  /// The parameters, checked against the interface's description before the handler runs, and empty
  /// after they were decoded.
  package var parameters: [JSONName: JSONValue] { content.parameters }
  /// Whether the client accepts more than one reply.
  package let wantsMore: Bool
  /// Whether the client gets no reply. The result or error of the handler is then ignored.
  package let isOneway: Bool
  /// The client's process, or nil if the connection is not a Unix socket.
  package let peer: Peer?
  private let content: CallParameters

  init(
    interface: String, method: String, content: CallParameters, mode: CallMessage.Mode, peer: Peer?
  ) {
    self.interface = interface
    self.method = method
    self.content = content
    wantsMore = mode == .more
    isOneway = mode == .oneway
    self.peer = peer
  }

  /// Decodes the parameters to a typed value, and releases them. A call may run for hours, and
  /// parameters as JSON need several times the memory of the message.
  /// - Throws: ``ServiceError/invalidParameter(_:)`` with the name of the offending parameter.
  package func decodeParameters<T: Decodable>(
    as type: T.Type = T.self
  ) throws(ServiceError) -> T {
    do {
      return try JSONValue.object(content.removeAll()).decode(type)
    } catch let error as DecodingError {
      throw .invalidParameter(Self.parameterName(of: error))
    } catch {
      throw .invalidParameter("")
    }
  }

  private static func parameterName(of error: DecodingError) -> String {
    switch error {
    case .keyNotFound(let key, let context):
      (context.codingPath.first ?? key).stringValue
    case .typeMismatch(_, let context), .valueNotFound(_, let context),
      .dataCorrupted(let context):
      context.codingPath.first?.stringValue ?? ""
    @unknown default: ""
    }
  }
}

/// The parameters of a call until they are decoded.
final class CallParameters: Sendable {
  private let members: Guarded<[JSONName: JSONValue]>

  init(_ members: [JSONName: JSONValue]) { self.members = Guarded(members) }

  var parameters: [JSONName: JSONValue] { members.withLock { $0 } }

  func removeAll() -> [JSONName: JSONValue] {
    members.withLock { members in
      defer { members = [:] }
      return members
    }
  }
}
