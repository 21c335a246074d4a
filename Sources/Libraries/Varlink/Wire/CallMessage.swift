package import JSON
package import NIOCore

/// A call as transmitted (UAPI.20, "Call").
package struct CallMessage: Equatable, Sendable {
  /// The number of replies that the client expects. The three flags are mutually exclusive.
  package enum Mode: String, Sendable {
    /// Exactly one reply.
    case simple
    /// No reply, not even an error.
    case oneway
    /// Any number of replies.
    case more
    /// One reply, after which the connection switches to another protocol.
    case upgrade
  }

  /// The fully qualified name of the method.
  package let method: String
  package let parameters: [JSONName: JSONValue]
  package let mode: Mode

  /// The reason why a message is not a call, to which no reply is possible.
  package enum Malformation: Error, Equatable {
    case notJSON(JSONParseError)
    case notAnObject
    case noMethod
    case flagNotBoolean(String)
    case twoFlags
    case parametersNotAnObject
    /// An unknown member whose name has no dot, so it is not a vendor extension.
    case unknownMember(String)
  }

  package init(
    method: String, parameters: [JSONName: JSONValue] = [:], mode: Mode = .simple
  ) {
    self.method = method
    self.parameters = parameters
    self.mode = mode
  }

  /// Limits far above the needs of any call. A message beyond them is malformed.
  static let limits = JSONLimits(nameBytes: ServiceError.maximumNameBytes, members: 4096)

  package init(parsing message: ByteBuffer) throws(Malformation) {
    let members = try parseMembers(message, Self.limits)
    guard case .string(let method)? = members["method"] else { throw .noMethod }
    var mode: Mode?
    for flag in [Mode.oneway, .more, .upgrade] {
      switch members[JSONName(flag.rawValue)] {
      // The member is declared as `?bool`, so null means the same as absent.
      case nil, .null?, .bool(false)?: continue
      case .bool(true)?:
        if mode != nil { throw .twoFlags }
        mode = flag
      case .integer, .number, .string, .array, .object: throw .flagNotBoolean(flag.rawValue)
      }
    }
    try refuseUnknown(members, known: ["method", "parameters", "oneway", "more", "upgrade"])
    self.init(
      method: method, parameters: try parseParameters(members), mode: mode ?? .simple)
  }

  /// Returns the message with its NUL byte. Empty parameters and false flags are omitted.
  package func encoded() -> ByteBuffer {
    var message: [JSONName: JSONValue] = ["method": .string(method)]
    switch mode {
    case .simple: break
    case .oneway, .more, .upgrade: message[JSONName(mode.rawValue)] = true
    }
    if !parameters.isEmpty { message["parameters"] = .object(parameters) }
    return encodeMessage(message)
  }
}

func encodeMessage(_ members: [JSONName: JSONValue]) -> ByteBuffer {
  var bytes = JSONValue.object(members).serialized()
  bytes.append(0)
  return ByteBuffer(bytes: bytes)
}

func parseMembers(
  _ message: ByteBuffer, _ limits: JSONLimits = JSONLimits()
) throws(CallMessage.Malformation) -> [JSONName: JSONValue] {
  let value: JSONValue
  do {
    value = try JSONValue(parsing: message.readableBytesView, limits: limits)
  } catch { throw .notJSON(error) }
  guard case .object(let members) = value else { throw .notAnObject }
  return members
}

func parseParameters(
  _ members: [JSONName: JSONValue]
) throws(CallMessage.Malformation) -> [JSONName: JSONValue] {
  switch members["parameters"] {
  case nil, .null?: return [:]
  case .object(let parameters)?: return parameters
  case .bool, .integer, .number, .string, .array: throw .parametersNotAnObject
  }
}

func refuseUnknown(
  _ members: [JSONName: JSONValue], known: Set<JSONName>
) throws(CallMessage.Malformation) {
  let unknown = members.keys.lazy.filter {
    !known.contains($0) && !$0.text.utf8.contains(UInt8(ascii: "."))
  }
  if let name = unknown.min() { throw .unknownMember(name.text) }
}
