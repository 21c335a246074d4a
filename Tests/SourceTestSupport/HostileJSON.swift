package import JSON

/// Generates invalid JSON messages: messages of a protocol whose parts are missing, moved or of
/// another type.
package struct HostileJSON {
  private let messages: [JSONValue]

  /// - Parameter messages: The texts of valid messages.
  package init(_ messages: [String]) throws {
    self.messages = try messages.map { try JSONValue(parsing: $0) }
  }

  /// Returns a message, which is valid in one of two cases.
  package func message(using generator: inout some RandomNumberGenerator) -> JSONValue {
    let message = messages.randomElement(using: &generator) ?? .null
    return Bool.random(using: &generator) ? message : spoiled(message, using: &generator)
  }

  private func spoiled(
    _ value: JSONValue, using generator: inout some RandomNumberGenerator
  ) -> JSONValue {
    switch (value, Int.random(in: 0..<8, using: &generator)) {
    case (_, 0): return scalar(using: &generator)
    case (.object(var members), 1):
      if let name = members.keys.randomElement(using: &generator) { members[name] = nil }
      return .object(members)
    case (.object(let members), _):
      guard
        let name = members.keys.sorted(by: { "\($0)" < "\($1)" })
          .randomElement(using: &generator)
      else { return value }
      var changed = members
      changed[name] = members[name].map { spoiled($0, using: &generator) }
      return .object(changed)
    case (.array(let elements), 1): return .array(elements + elements)
    case (.array(let elements), 2): return .array(elements.dropLast())
    case (.array(let elements), _):
      return .array(elements.map { spoiled($0, using: &generator) })
    default: return scalar(using: &generator)
    }
  }

  private func scalar(using generator: inout some RandomNumberGenerator) -> JSONValue {
    let values: [JSONValue] = [
      .null, .bool(true), .integer(.max), .integer(.min), .integer(-1), .integer(0), .integer(42),
      .number(-1e300), .number(1e300), .number(0.5), .string(""), .string("\u{0}\u{202E}é"),
      .string(String(repeating: "x", count: 5000)), .array([]), .object([:]), .string("42"),
      .string("2026-11-24T20:00:00.123456789Z"), .string("wss://other.example/ws?a=b"),
    ]
    return values.randomElement(using: &generator) ?? .null
  }
}
