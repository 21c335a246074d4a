/// Splits XML into tags and text, as far as exported tables need: no document types, and only XML's
/// five predefined entities and character references.
struct XMLScanner {
  enum Token: Equatable {
    case open(name: String, attributes: [String: String])
    case close(name: String)
    case text(String)
  }

  private let bytes: [UInt8]
  private var offset = 0
  /// The name of an empty element whose end token is returned next.
  private var pendingClose: String?

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Returns the next token; `nil` at the end. Skips declarations and comments.
  mutating func next() throws(CalibrationProblem) -> Token? {
    if let name = pendingClose {
      pendingClose = nil
      return .close(name: name)
    }
    while offset < bytes.count {
      guard bytes[offset] == UInt8(ascii: "<") else { return .text(text(until: "<")) }
      if starts(with: "<!--") {
        try skip(through: "-->")
      } else if starts(with: "<?") {
        try skip(through: "?>")
      } else if starts(with: "<!") {
        throw problem("has a declaration")
      } else {
        return try tag()
      }
    }
    return nil
  }

  private mutating func tag() throws(CalibrationProblem) -> Token {
    offset += 1
    let isEnd = starts(with: "/")
    if isEnd { offset += 1 }
    let name = try name()
    var attributes: [String: String] = [:]
    while true {
      skipSpace()
      if starts(with: ">") {
        offset += 1
        return isEnd ? .close(name: name) : .open(name: name, attributes: attributes)
      }
      if !isEnd, starts(with: "/>") {
        offset += 2
        pendingClose = name
        return .open(name: name, attributes: attributes)
      }
      guard !isEnd else { throw problem("has a tag that does not end") }
      let attribute = try self.name()
      skipSpace()
      guard starts(with: "=") else { throw problem("has an attribute without a value") }
      offset += 1
      skipSpace()
      guard offset < bytes.count, [UInt8(ascii: "\""), UInt8(ascii: "'")].contains(bytes[offset])
      else { throw problem("has an attribute without quotes") }
      let quote = bytes[offset]
      offset += 1
      attributes[attribute] = text(until: Unicode.Scalar(quote))
      guard offset < bytes.count else { throw problem("ends within a tag") }
      offset += 1
    }
  }

  private mutating func name() throws(CalibrationProblem) -> String {
    let start = offset
    while offset < bytes.count, !Self.endsName(bytes[offset]) { offset += 1 }
    guard offset > start, offset < bytes.count else { throw problem("has a tag without a name") }
    return String(decoding: bytes[start..<offset], as: UTF8.self)
  }

  private static func endsName(_ byte: UInt8) -> Bool {
    byte <= 0x20 || [UInt8(ascii: "="), UInt8(ascii: ">"), UInt8(ascii: "/")].contains(byte)
  }

  private mutating func skipSpace() {
    while offset < bytes.count, bytes[offset] <= 0x20 { offset += 1 }
  }

  private func starts(with text: StaticString) -> Bool {
    let expected = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    return bytes[offset...].starts(with: expected)
  }

  private mutating func skip(through text: StaticString) throws(CalibrationProblem) {
    while offset < bytes.count, !starts(with: text) { offset += 1 }
    guard offset < bytes.count else { throw problem("ends too early") }
    offset += text.utf8CodeUnitCount
  }

  /// Reads text and resolves its entities.
  private mutating func text(until end: Unicode.Scalar) -> String {
    let start = offset
    while offset < bytes.count, bytes[offset] != UInt8(ascii: end) { offset += 1 }
    let raw = bytes[start..<offset]
    let text = String(decoding: raw, as: UTF8.self)
    return raw.contains(UInt8(ascii: "&")) ? Self.resolved(text) : text
  }

  private static func resolved(_ text: String) -> String {
    var result = ""
    var rest = text[...]
    while let start = rest.firstIndex(of: "&") {
      result += rest[..<start]
      rest = rest[start...]
      guard let end = rest.prefix(12).firstIndex(of: ";") else { break }
      let entity = rest[rest.index(after: start)..<end]
      result += character(entity) ?? String(rest[start...end])
      rest = rest[rest.index(after: end)...]
    }
    return result + rest
  }

  private static func character(_ entity: Substring) -> String? {
    switch entity {
    case "lt": return "<"
    case "gt": return ">"
    case "amp": return "&"
    case "quot": return "\""
    case "apos": return "'"
    default:
      guard entity.hasPrefix("#") else { return nil }
      let digits = entity.dropFirst()
      let code =
        digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
      return code.flatMap(Unicode.Scalar.init).map { String($0) }
    }
  }

  private func problem(_ fault: String) -> CalibrationProblem {
    CalibrationProblem("is not readable XML: it \(fault) at byte \(offset)")
  }
}
