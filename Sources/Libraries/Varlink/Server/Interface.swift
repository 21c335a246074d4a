package import JSON
package import NIOCore
package import VarlinkDescription

/// An interface that a server offers: its description and the handlers of its methods.
///
/// Handlers run on the connection's event loop and must not block it, but may await anything. A
/// handler's task is cancelled when its client disconnects, unless the call is one-way, and when
/// the server stops and the handler takes longer than ``VarlinkServer/Limits/drainTimeout``.
/// Handlers of one connection run in sequence; handlers of different connections run concurrently.
package struct Interface: Sendable {
  package let description: InterfaceDescription

  /// Called before the parameters of a call are checked and before its handler runs. Throws an
  /// error to refuse the call.
  package var authorization: (@Sendable (Call) throws -> Void)?

  private(set) var handlers: [JSONName: MethodHandler] = [:]

  private typealias Fields = [InterfaceDescription.Field]

  private let parameters: [JSONName: Fields]

  package init(_ description: InterfaceDescription) {
    self.description = description
    parameters = Dictionary(
      description.members.compactMap { (member) -> (JSONName, Fields)? in
        guard case .method(let input, _) = member.kind else { return nil }
        return (JSONName(member.name), input)
      }, uniquingKeysWith: { first, _ in first })
  }

  package init(parsing text: String) throws(DescriptionError) {
    self.init(try InterfaceDescription(parsing: text))
  }

  /// The methods without a handler; their calls get the error `MethodNotImplemented`.
  package var unimplementedMethods: [String] {
    description.methodNames.filter { handlers[JSONName($0)] == nil }
  }

  /// Registers a method with one reply.
  package mutating func handle<
    Parameters: Decodable & SendableMetatype, Reply: Encodable & SendableMetatype
  >(
    _ method: String,
    _ body: @escaping @Sendable (Call, Parameters) async throws -> Reply
  ) throws(RegistrationError) {
    try handleRaw(method) { call in
      try await JSONValue(encoding: body(call, call.decodeParameters())).buffer()
    }
  }

  /// Registers a method with one reply. The handler returns the encoded `parameters` object.
  package mutating func handleRaw(
    _ method: String, _ body: @escaping @Sendable (Call) async throws -> ByteBuffer
  ) throws(RegistrationError) {
    try register(method, .single(body))
  }

  /// Registers a method with any number of replies: the replies that the handler sends, followed by
  /// the reply that it returns.
  /// - Parameter requiresMore: If true, calls without the flag `more` get the error `ExpectedMore`.
  ///   If false, the handler must check ``Call/wantsMore``, and if that is false, send nothing
  ///   before its last reply.
  package mutating func handleStream<
    Parameters: Decodable & SendableMetatype, Reply: Encodable & SendableMetatype
  >(
    _ method: String, requiresMore: Bool = false,
    _ body: @escaping @Sendable (Call, Parameters, ReplyStream) async throws -> Reply
  ) throws(RegistrationError) {
    try handleRawStream(method, requiresMore: requiresMore) { call, replies in
      let reply = try await body(call, call.decodeParameters(), replies)
      return try JSONValue(encoding: reply).buffer()
    }
  }

  /// Like ``handleStream(_:requiresMore:_:)``, with encoded `parameters` objects.
  package mutating func handleRawStream(
    _ method: String, requiresMore: Bool = false,
    _ body: @escaping @Sendable (Call, ReplyStream) async throws -> ByteBuffer
  ) throws(RegistrationError) {
    try register(method, .stream(requiresMore: requiresMore, body))
  }

  private mutating func register(
    _ method: String, _ handler: MethodHandler
  ) throws(RegistrationError) {
    guard defines(method) else {
      throw .notInDescription(interface: description.name, method: method)
    }
    if handlers.updateValue(handler, forKey: JSONName(method)) != nil {
      throw .registeredTwice(interface: description.name, method: method)
    }
  }

  func defines(_ method: String) -> Bool { parameters[JSONName(method)] != nil }

  /// Returns the name of the first parameter that does not match its declaration.
  func mismatch(of call: Call) -> String? {
    parameters[JSONName(call.method)].flatMap {
      description.mismatch(of: call.parameters, against: $0)
    }
  }
}

/// A handler that does not match its interface's description, which is a programming error.
package enum RegistrationError: Error, Equatable, Sendable {
  case notInDescription(interface: String, method: String)
  case registeredTwice(interface: String, method: String)
}

enum MethodHandler: Sendable {
  case single(@Sendable (Call) async throws -> ByteBuffer)
  case stream(requiresMore: Bool, @Sendable (Call, ReplyStream) async throws -> ByteBuffer)
}

/// The parameters of a method or reply without parameters.
package struct NoParameters: Codable, Sendable, Equatable {
  package init() {}
}

extension JSONValue {
  /// Returns ``serialized()`` as a buffer.
  package func buffer() -> ByteBuffer { ByteBuffer(bytes: serialized()) }
}
