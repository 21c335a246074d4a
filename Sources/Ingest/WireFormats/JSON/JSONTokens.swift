/// The tokens of one line of JSON, and the grammar over them (RFC 8259).
///
/// simdjson gives the offset of the first byte of every token. Strings are known to be closed and
/// free of control characters, and the line to be UTF-8; the rest of the grammar is checked here.
/// A method that reads at a token returns the token after what it read, or `nil` if the line is
/// malformed.
struct JSONTokens {
  /// The depth of nested containers beyond which a line counts as malformed.
  static let maximumDepth = 64

  /// The bytes that were indexed: the line, or several.
  let bytes: UnsafePointer<UInt8>
  /// Offsets of the tokens. Behind the last comes one more entry, the length of what was indexed.
  let offsets: UnsafePointer<UInt32>
  /// The first token of the line.
  let first: Int
  /// The tokens from here on are not read. Those at `limit` or behind it belong to other
  /// lines.
  let count: Int
  /// Where the line ends.
  let limit: Int
  /// Whether there may be a backslash in the line.
  let mayEscape: Bool

  /// Whether the line ends with the token before `token`.
  @inline(__always)
  func isEnd(_ token: Int) -> Bool { offset(token) >= limit && offset(token &- 1) < limit }

  /// The offset of the token.
  @inline(__always)
  func offset(_ token: Int) -> Int { Int(offsets[token]) }

  /// The first byte of the token; for a token after the last, the byte after the line.
  @inline(__always)
  func byte(_ token: Int) -> UInt8 { bytes[offset(token)] }

  /// Where the token ends. There is only white space between it and the next one.
  @inline(__always)
  private func end(_ token: Int) -> Int {
    let start = offset(token)
    var end = offset(token + 1)
    while end > start + 1, Self.isSpace(bytes[end - 1]) { end -= 1 }
    return end
  }

  @inline(__always)
  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }

  /// Reads a value of any kind.
  @inline(__always)
  func value(at token: Int, into value: inout JSONValue) -> Int? {
    guard token < count else { return nil }
    let start = offset(token)
    let first = bytes[start]
    if first == UInt8(ascii: "\"") { return string(at: token, into: &value) }
    if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
      return container(at: token, into: &value)
    }
    return scalar(at: token, into: &value)
  }

  /// Reads a string; the value is what is between its quotes.
  @inline(__always)
  func string(at token: Int, into value: inout JSONValue) -> Int? {
    let start = offset(token) &+ 1
    var end = offset(token &+ 1) &- 1
    if bytes[end] != UInt8(ascii: "\"") {
      end = self.end(token) &- 1
      guard end >= start, bytes[end] == UInt8(ascii: "\"") else { return nil }
    }
    value.start = UInt32(truncatingIfNeeded: start)
    value.count = UInt32(truncatingIfNeeded: end &- start)
    value.kind = .string
    if mayEscape {
      guard let kind = stringKind(from: start, count: end &- start) else { return nil }
      value.kind = kind
    }
    return token &+ 1
  }

  /// Returns a string as one with escapes; `nil` if they are not valid. By value, so that a
  /// caller's `JSONValue` can stay in registers.
  @inline(never)
  private func stringKind(from start: Int, count: Int) -> JSONValue.Kind? {
    let start = bytes + start
    guard ByteSearch.contains(UInt8(ascii: "\\"), in: start, count: count) else { return .string }
    return JSONEscapes.areValid(start, count: count) ? .escapedString : nil
  }

  private func scalar(at token: Int, into value: inout JSONValue) -> Int? {
    let start = offset(token)
    let length = end(token) - start
    guard let kind = JSONScalar.kind(of: bytes + start, count: length) else { return nil }
    value.kind = kind
    value.start = UInt32(start)
    value.count = UInt32(length)
    return token + 1
  }

  private func container(at token: Int, into value: inout JSONValue) -> Int? {
    guard let next = container(at: token) else { return nil }
    let start = offset(token)
    value.kind = bytes[start] == UInt8(ascii: "{") ? .object : .array
    value.start = UInt32(start)
    value.count = UInt32(end(next - 1) - start)
    value.token = UInt32(token)
    return next
  }

  /// Reads the object at `token`. `member` is given each key and the token of its value, which it
  /// reads; it returns the token after the value.
  @inline(__always)
  func object(at token: Int, member: (_ key: JSONValue, _ token: Int) -> Int?) -> Int? {
    var i = token &+ 1
    guard i < count else { return nil }
    if byte(i) == UInt8(ascii: "}") { return i &+ 1 }
    var key = JSONValue()
    while true {
      guard i &+ 2 < count, byte(i) == UInt8(ascii: "\""), string(at: i, into: &key) != nil,
        byte(i &+ 1) == UInt8(ascii: ":"), let next = member(key, i &+ 2), next < count
      else { return nil }
      i = next &+ 1
      let separator = byte(next)
      if separator == UInt8(ascii: ",") { continue }
      return separator == UInt8(ascii: "}") ? i : nil
    }
  }

  /// Skips the object or array at `token`, checking its grammar. Without recursion: the depth is
  /// limited by the bits of one word.
  private func container(at token: Int) -> Int? {
    var i = token
    var isObject: UInt64 = 0
    var depth = 0
    var unused = JSONValue()
    while true {
      guard i < count else { return nil }
      let opening = byte(i)
      if opening == UInt8(ascii: "{") || opening == UInt8(ascii: "[") {
        guard depth < Self.maximumDepth else { return nil }
        depth += 1
        isObject = isObject << 1 | (opening == UInt8(ascii: "{") ? 1 : 0)
        i += 1
        guard i < count else { return nil }
        if byte(i) != closing(isObject) {
          if isObject & 1 == 1 {
            guard let next = key(at: i) else { return nil }
            i = next
          }
          continue
        }
      } else {
        guard
          let next = opening == UInt8(ascii: "\"")
            ? string(at: i, into: &unused) : scalar(at: i, into: &unused)
        else { return nil }
        i = next
        guard i < count else { return nil }
      }
      while byte(i) == closing(isObject) {
        depth -= 1
        isObject >>= 1
        i += 1
        if depth == 0 { return i }
        guard i < count else { return nil }
      }
      guard byte(i) == UInt8(ascii: ",") else { return nil }
      i += 1
      if isObject & 1 == 1 {
        guard let next = key(at: i) else { return nil }
        i = next
      }
    }
  }

  private func closing(_ isObject: UInt64) -> UInt8 {
    isObject & 1 == 1 ? UInt8(ascii: "}") : UInt8(ascii: "]")
  }

  private func key(at token: Int) -> Int? {
    var unused = JSONValue()
    guard token + 1 < count, byte(token) == UInt8(ascii: "\""),
      string(at: token, into: &unused) != nil, byte(token + 1) == UInt8(ascii: ":")
    else { return nil }
    return token + 2
  }
}

/// A value and its location in the line.
struct JSONValue {
  enum Kind: UInt8 {
    case string, escapedString, integer, decimal, yes, no, null, object, array
  }

  var kind = Kind.null
  /// The offset from the tokens' `bytes`. For strings, that of the first byte after the quote.
  var start: UInt32 = 0
  /// Length in bytes. Strings: without quotes; containers: with brackets.
  var count: UInt32 = 0
  /// Containers: the token of the opening bracket.
  var token: UInt32 = 0
}
