package import JSON
package import NIOCore

/// A reply as transmitted (UAPI.20, "Reply").
package struct ReplyMessage: Equatable, Sendable {
  package let parameters: [JSONName: JSONValue]
  /// Whether further replies to the same call follow.
  package let continues: Bool
  /// The fully qualified name of an error; `continues` is then false.
  package let error: String?

  package init(parsing message: ByteBuffer) throws(CallMessage.Malformation) {
    let members = try parseMembers(message)
    switch members["continues"] {
    case nil, .null?: continues = false
    case .bool(let bool)?: continues = bool
    case .integer, .number, .string, .array, .object: throw .flagNotBoolean("continues")
    }
    switch members["error"] {
    case nil, .null?: error = nil
    case .string(let name)?:
      if continues { throw .twoFlags }
      error = name
    case .bool, .integer, .number, .array, .object: throw .flagNotBoolean("error")
    }
    try refuseUnknown(members, known: ["parameters", "continues", "error"])
    parameters = try parseParameters(members)
  }

  static let continuesPrefix = ByteBuffer(string: "{\"continues\":true,\"parameters\":")
  static let finalPrefix = ByteBuffer(string: "{\"parameters\":")
  static let end = ByteBuffer(bytes: [UInt8(ascii: "}"), 0])

  static func encodedError(_ error: VarlinkError) -> ByteBuffer {
    var message: [JSONName: JSONValue] = ["error": .string(error.name)]
    if !error.parameters.isEmpty { message["parameters"] = .object(error.parameters) }
    return encodeMessage(message)
  }
}
