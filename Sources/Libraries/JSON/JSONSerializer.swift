extension JSONValue {
  /// Returns this value as compact JSON text in UTF-8, with members sorted by the bytes of their
  /// names.
  ///
  /// Equal values produce equal bytes. Control characters are escaped and everything else is
  /// copied, so the result contains no NUL byte.
  /// - Complexity: O(*n*) in the size of the value, and a sort for each object.
  package func serialized() -> [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }

  /// Appends the result of ``serialized()``.
  package func append(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .bool(let bool): bytes.append(contentsOf: (bool ? "true" : "false").utf8)
    case .integer(let integer): bytes.append(contentsOf: integer.description.utf8)
    case .number(let number): bytes.append(contentsOf: number.description.utf8)
    case .string(let text): Self.appendQuoted(text, to: &bytes)
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      var isFirst = true
      for element in elements {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        element.append(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      var isFirst = true
      for name in members.keys.sorted() {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        Self.appendQuoted(name.text, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        members[name]?.append(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  private static func appendQuoted(_ text: String, to bytes: inout [UInt8]) {
    var text = text
    text.withUTF8 { JSONWriter.appendQuoted($0, to: &bytes) }
  }
}

extension JSONValue: CustomStringConvertible {
  /// The value as compact JSON text, with members sorted by name.
  package var description: String { String(decoding: serialized(), as: UTF8.self) }
}
