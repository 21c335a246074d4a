package import JSON
package import NIOCore

/// A call as transmitted (UAPI.20, "Call").
package struct CallMessage: Equatable, Sendable {
  /// How many replies the client wants; the three flags exclude each other.
  package enum Mode: String, Sendable {
    /// Exactly one reply.
    case simple
    /// No reply, not even an error.
    case oneway
    /// Any number of replies.
    case more
    /// One reply, after which the connection speaks another protocol.
    case upgrade
  }

  /// Fully qualified.
  package let method: String
  package let parameters: [String: JSONValue]
  package let mode: Mode

  /// Why a message is not a call. No reply is possible: the connection must be closed.
  package enum Malformation: Error, Equatable {
    case notJSON(JSONParseError)
    case notAnObject
    case noMethod
    case flagNotBoolean(String)
    case twoFlags
    case parametersNotAnObject
    /// An unknown member whose name has no dot, and so is not a vendor's extension.
    case unknownMember(String)
  }

  package init(
    method: String, parameters: [String: JSONValue] = [:], mode: Mode = .simple
  ) {
    self.method = method
    self.parameters = parameters
    self.mode = mode
  }

  package init(parsing message: ByteBuffer) throws(Malformation) {
    let members = try parseMembers(message)
    guard case .string(let method)? = members["method"] else { throw .noMethod }
    var mode: Mode?
    for flag in [Mode.oneway, .more, .upgrade] {
      switch members[flag.rawValue] {
      // The member is declared `?bool`, and null means the same as absent.
      case nil, .null?, .bool(false)?: continue
      case .bool(true)?:
        if mode != nil { throw .twoFlags }
        mode = flag
      case .integer, .number, .string, .array, .object: throw .flagNotBoolean(flag.rawValue)
      }
    }
    let known: Set = ["method", "parameters", "oneway", "more", "upgrade"]
    try refuseUnknown(members, known: known)
    self.init(
      method: method, parameters: try parseParameters(members), mode: mode ?? .simple)
  }

  /// The message with its NUL byte. Empty parameters and false flags are left out.
  package func encoded() -> ByteBuffer {
    var message: [String: JSONValue] = ["method": .string(method)]
    switch mode {
    case .simple: break
    case .oneway, .more, .upgrade: message[mode.rawValue] = true
    }
    if !parameters.isEmpty { message["parameters"] = .object(parameters) }
    return encodeMessage(message)
  }
}

/// A message with its NUL byte.
func encodeMessage(_ members: [String: JSONValue]) -> ByteBuffer {
  var bytes = JSONValue.object(members).serialized()
  bytes.append(0)
  return ByteBuffer(bytes: bytes)
}

func parseMembers(_ message: ByteBuffer) throws(CallMessage.Malformation) -> [String: JSONValue] {
  let value: JSONValue
  do { value = try JSONValue(parsing: message.readableBytesView) } catch { throw .notJSON(error) }
  guard case .object(let members) = value else { throw .notAnObject }
  return members
}

func parseParameters(
  _ members: [String: JSONValue]
) throws(CallMessage.Malformation) -> [String: JSONValue] {
  switch members["parameters"] {
  case nil, .null?: return [:]
  case .object(let parameters)?: return parameters
  case .bool, .integer, .number, .string, .array: throw .parametersNotAnObject
  }
}

func refuseUnknown(
  _ members: [String: JSONValue], known: Set<String>
) throws(CallMessage.Malformation) {
  for name in members.keys.sorted() where !known.contains(name) && !name.contains(".") {
    throw .unknownMember(name)
  }
}
