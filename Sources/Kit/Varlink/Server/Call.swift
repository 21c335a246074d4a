package import JSON
import Platform
package import UnixSockets

/// A method call as its handler sees it.
package struct Call: Sendable {
  /// Name of the interface, such as `org.example.ftl`.
  package let interface: String
  /// Name of the method without its interface, such as `Monitor`.
  package let method: String
  /// Checked against the interface's description before the handler runs. Empty once they are decoded.
  package var parameters: [JSONName: JSONValue] { content.parameters }
  /// The client takes more than one reply.
  package let wantsMore: Bool
  /// The client gets no reply; what the handler returns or throws is dropped.
  package let isOneway: Bool
  /// Nil if the connection is not a unix socket.
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

  /// The parameters as a typed value, with which the call drops them: it may run for hours, and as JSON
  /// they are several times as large as they were sent.
  /// - Throws: ``ServiceError/invalidParameter(_:)`` with the name of the parameter at fault.
  package func decodeParameters<T: Decodable>(
    as type: T.Type = T.self
  ) throws(ServiceError) -> T {
    do {
      return try JSONValue.object(content.take()).decode(type)
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

/// The parameters of a call until they are used.
final class CallParameters: Sendable {
  private let members: Guarded<[JSONName: JSONValue]>

  init(_ members: [JSONName: JSONValue]) { self.members = Guarded(members) }

  var parameters: [JSONName: JSONValue] { members.withLock { $0 } }

  func take() -> [JSONName: JSONValue] {
    members.withLock { members in
      defer { members = [:] }
      return members
    }
  }
}
