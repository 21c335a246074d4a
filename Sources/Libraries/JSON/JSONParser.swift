/// The reason why bytes are not exactly one JSON value.
package struct JSONParseError: Error, Equatable, Sendable {
  package enum Reason: Sendable {
    case unexpectedEnd, unexpectedByte, trailingBytes, tooDeep, duplicateMember, invalidUTF8,
      invalidEscape, numberOutOfRange, nameTooLong, tooManyMembers
  }
  package let reason: Reason
  /// The position of the offending byte, counted from zero.
  package let offset: Int
}

/// The limits for values from untrusted clients.
package struct JSONLimits: Sendable, Equatable {
  /// The maximum length of a member's name, in UTF-8 bytes.
  package var nameBytes: Int
  /// The maximum number of members of one object.
  package var members: Int

  package init(nameBytes: Int = .max, members: Int = .max) {
    self.nameBytes = nameBytes
    self.members = members
  }
}

extension JSONValue {
  /// The maximum nesting depth of arrays and objects. The parser is recursive, so it needs a limit.
  package static let maximumDepth = 128

  /// Parses exactly one JSON value, with optional white space around it.
  ///
  /// Implements RFC 8259 strictly: only valid UTF-8, no lone surrogates, and no raw control
  /// characters in strings. An object with a duplicate member is rejected, because readers could
  /// interpret it differently.
  /// - Complexity: O(*n*) in the number of bytes.
  package init(
    parsing bytes: some Collection<UInt8>, limits: JSONLimits = JSONLimits()
  ) throws(JSONParseError) {
    let result = bytes.withContiguousStorageIfAvailable { buffer in
      Result { () throws(JSONParseError) in try JSONParser.parse(buffer, limits) }
    }
    if let result {
      self = try result.get()
    } else {
      // The copy is contiguous, so this initializer recurses only once.
      self = try JSONValue(parsing: ContiguousArray(bytes), limits: limits)
    }
  }

  /// Parses one JSON value from text.
  package init(parsing text: String) throws(JSONParseError) {
    self = try JSONValue(parsing: ContiguousArray(text.utf8))
  }
}

/// A recursive-descent parser that does not copy its input.
struct JSONParser {
  private let bytes: UnsafeBufferPointer<UInt8>
  private let limits: JSONLimits
  private var offset = 0
  private var depth = 0

  static func parse(
    _ bytes: UnsafeBufferPointer<UInt8>, _ limits: JSONLimits
  ) throws(JSONParseError) -> JSONValue {
    var parser = JSONParser(bytes: bytes, limits: limits)
    let value = try parser.value()
    parser.skipWhiteSpace()
    if parser.offset != bytes.count { throw parser.failure(.trailingBytes) }
    return value
  }

  private init(bytes: UnsafeBufferPointer<UInt8>, limits: JSONLimits) {
    self.bytes = bytes
    self.limits = limits
  }

  private func failure(_ reason: JSONParseError.Reason) -> JSONParseError {
    JSONParseError(reason: reason, offset: offset)
  }

  private mutating func skipWhiteSpace() {
    while offset < bytes.count {
      switch bytes[offset] {
      case 0x20, 0x0A, 0x0D, 0x09: offset += 1
      default: return
      }
    }
  }

  private func current() throws(JSONParseError) -> UInt8 {
    if offset >= bytes.count { throw failure(.unexpectedEnd) }
    return bytes[offset]
  }

  private mutating func expect(_ byte: Character) throws(JSONParseError) {
    if try current() != byte.asciiValue { throw failure(.unexpectedByte) }
    offset += 1
  }

  private mutating func value() throws(JSONParseError) -> JSONValue {
    skipWhiteSpace()
    switch try current() {
    case UInt8(ascii: "{"): return try object()
    case UInt8(ascii: "["): return try array()
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try literal("true", .bool(true))
    case UInt8(ascii: "f"): return try literal("false", .bool(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default: throw failure(.unexpectedByte)
    }
  }

  private mutating func literal(
    _ text: StaticString, _ value: JSONValue
  ) throws(JSONParseError) -> JSONValue {
    for index in 0..<text.utf8CodeUnitCount {
      if try current() != text.utf8Start[index] { throw failure(.unexpectedByte) }
      offset += 1
    }
    return value
  }

  private mutating func enter() throws(JSONParseError) {
    depth += 1
    if depth > JSONValue.maximumDepth { throw failure(.tooDeep) }
    offset += 1
    skipWhiteSpace()
  }

  /// Called after an element. Returns whether another element follows in the container.
  private mutating func continues(until end: UInt8) throws(JSONParseError) -> Bool {
    skipWhiteSpace()
    let byte = try current()
    if byte != end, byte != UInt8(ascii: ",") { throw failure(.unexpectedByte) }
    offset += 1
    if byte == end { depth -= 1 }
    return byte != end
  }

  private mutating func object() throws(JSONParseError) -> JSONValue {
    try enter()
    var members: [JSONName: JSONValue] = [:]
    if try current() == UInt8(ascii: "}") {
      offset += 1
      depth -= 1
      return .object(members)
    }
    repeat {
      skipWhiteSpace()
      if members.count == limits.members { throw failure(.tooManyMembers) }
      let name = JSONName(try string(atMost: limits.nameBytes))
      skipWhiteSpace()
      try expect(":")
      if members.updateValue(try value(), forKey: name) != nil {
        throw failure(.duplicateMember)
      }
    } while try continues(until: UInt8(ascii: "}"))
    return .object(members)
  }

  private mutating func array() throws(JSONParseError) -> JSONValue {
    try enter()
    var elements: [JSONValue] = []
    if try current() == UInt8(ascii: "]") {
      offset += 1
      depth -= 1
      return .array(elements)
    }
    repeat { elements.append(try value()) } while try continues(until: UInt8(ascii: "]"))
    return .array(elements)
  }
}

extension JSONParser {
  private mutating func digits() throws(JSONParseError) {
    let start = offset
    while offset < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[offset]) {
      offset += 1
    }
    if offset == start {
      throw failure(offset < bytes.count ? .unexpectedByte : .unexpectedEnd)
    }
  }

  private func isNext(_ candidates: UInt8...) -> Bool {
    offset < bytes.count && candidates.contains(bytes[offset])
  }

  private mutating func number() throws(JSONParseError) -> JSONValue {
    let start = offset
    if isNext(UInt8(ascii: "-")) { offset += 1 }
    if isNext(UInt8(ascii: "0")) { offset += 1 } else { try digits() }
    var isInteger = true
    if isNext(UInt8(ascii: ".")) {
      isInteger = false
      offset += 1
      try digits()
    }
    if isNext(UInt8(ascii: "e"), UInt8(ascii: "E")) {
      isInteger = false
      offset += 1
      if isNext(UInt8(ascii: "+"), UInt8(ascii: "-")) { offset += 1 }
      try digits()
    }
    let text = String(decoding: bytes[start..<offset], as: UTF8.self)
    if isInteger, let integer = Int64(text) { return .integer(integer) }
    // The grammar was checked above, so only a literal too large for a double fails here.
    guard let number = Double(text), number.isFinite else { throw failure(.numberOutOfRange) }
    return .number(number)
  }

  /// - Parameter limit: The maximum length of the text in UTF-8 bytes. A longer text is read only
  ///   up to the limit.
  private mutating func string(atMost limit: Int = .max) throws(JSONParseError) -> String {
    try expect("\"")
    let start = offset
    var unescaped: [UInt8]?
    while true {
      if unescaped?.count ?? (offset - start) > limit { throw failure(.nameTooLong) }
      let byte = try current()
      switch byte {
      case UInt8(ascii: "\""):
        let text =
          if let unescaped {
            String(validating: unescaped, as: UTF8.self)
          } else {
            String(validating: bytes[start..<offset], as: UTF8.self)
          }
        guard let text else { throw failure(.invalidUTF8) }
        offset += 1
        return text
      case UInt8(ascii: "\\"):
        if unescaped == nil { unescaped = Array(bytes[start..<offset]) }
        offset += 1
        unescaped?.append(contentsOf: try escape())
      case 0..<0x20:
        throw failure(.unexpectedByte)
      default:
        unescaped?.append(byte)
        offset += 1
      }
    }
  }

  /// Parses the part of an escape after the backslash. Returns it as UTF-8.
  private mutating func escape() throws(JSONParseError) -> [UInt8] {
    let byte = try current()
    offset += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "u"): return Array(Character(try escapedScalar()).utf8)
    default: throw failure(.invalidEscape)
    }
  }

  private mutating func escapedScalar() throws(JSONParseError) -> Unicode.Scalar {
    let first = try hexadecimal()
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard (0xD800..<0xDC00).contains(first), isNext(UInt8(ascii: "\\")) else {
      throw failure(.invalidEscape)
    }
    offset += 1
    guard isNext(UInt8(ascii: "u")) else { throw failure(.invalidEscape) }
    offset += 1
    let second = try hexadecimal()
    guard (0xDC00..<0xE000).contains(second),
      let scalar = Unicode.Scalar(
        0x10000 + (UInt32(first - 0xD800) << 10) + UInt32(second - 0xDC00))
    else { throw failure(.invalidEscape) }
    return scalar
  }

  private mutating func hexadecimal() throws(JSONParseError) -> UInt16 {
    var result: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = Character(Unicode.Scalar(try current())).hexDigitValue,
        bytes[offset] < 0x80
      else { throw failure(.invalidEscape) }
      result = result << 4 | UInt16(digit)
      offset += 1
    }
    return result
  }
}
