package import JSON

/// A method call as its handler sees it.
package struct Call: Sendable {
  /// Name of the interface, such as `org.example.ftl`.
  package let interface: String
  /// Name of the method without its interface, such as `Monitor`.
  package let method: String
  /// Checked against the interface's description before the handler runs.
  package let parameters: [String: JSONValue]
  /// The client takes more than one reply.
  package let wantsMore: Bool
  /// The client gets no reply; what the handler returns or throws is dropped.
  package let isOneway: Bool
  /// Nil if the connection is not a unix socket.
  package let peer: Peer?

  /// The parameters as a typed value.
  /// - Throws: ``ServiceError/invalidParameter(_:)`` with the name of the parameter at fault.
  package func decodeParameters<T: Decodable>(
    as type: T.Type = T.self
  ) throws(ServiceError) -> T {
    do {
      return try JSONValue.object(parameters).decode(type)
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
