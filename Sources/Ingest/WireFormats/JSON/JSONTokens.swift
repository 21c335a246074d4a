/// The tokens of one line of JSON, with a parser for their grammar (RFC 8259).
///
/// simdjson finds the offset of each token's first byte, and guarantees that strings are closed and
/// free of control characters, and that the line is UTF-8. `JSONTokens` checks the rest of the
/// grammar. A method that reads a token returns the next token, or `nil` if the line is malformed.
struct JSONTokens {
  /// The maximum depth of nested containers. A line with deeper nesting is malformed.
  static let maximumDepth = 64

  /// The indexed bytes, which contain one or several lines.
  let bytes: UnsafePointer<UInt8>
  /// The offsets of the tokens. The last token is followed by one more entry: the length of the
  /// indexed bytes.
  let offsets: UnsafePointer<UInt32>
  let first: Int
  /// The upper bound of the tokens that may be read. Tokens at or after `limit` belong to other
  /// lines.
  let count: Int
  let limit: Int
  /// Whether the line may contain a backslash.
  let mayEscape: Bool

  /// Returns whether the line ends with the token before `token`.
  @inline(__always)
  func isEnd(_ token: Int) -> Bool { offset(token) >= limit && offset(token &- 1) < limit }

  @inline(__always)
  func offset(_ token: Int) -> Int { Int(offsets[token]) }

  /// Returns the first byte of the token. For the token after the last, returns the byte after the
  /// line.
  @inline(__always)
  func byte(_ token: Int) -> UInt8 { bytes[offset(token)] }

  /// Returns the offset of the token's end, after which only white space precedes the next token.
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

  @inline(__always)
  func value(at token: Int, into value: inout TokenValue) -> Int? {
    guard token < count else { return nil }
    let start = offset(token)
    let first = bytes[start]
    if first == UInt8(ascii: "\"") { return string(at: token, into: &value) }
    if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
      return container(at: token, into: &value)
    }
    return scalar(at: token, into: &value)
  }

  /// Reads a string. The value is the content between the quotes.
  @inline(__always)
  func string(at token: Int, into value: inout TokenValue) -> Int? {
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

  /// Returns the kind of a string, which depends on whether the string has escapes, or `nil` if an
  /// escape is invalid. Returns the kind by value, so that the caller's `TokenValue` can stay in
  /// registers.
  @inline(never)
  private func stringKind(from start: Int, count: Int) -> TokenValue.Kind? {
    let start = bytes + start
    guard ByteSearch.contains(UInt8(ascii: "\\"), in: start, count: count) else { return .string }
    return JSONEscapes.areValid(start, count: count) ? .escapedString : nil
  }

  private func scalar(at token: Int, into value: inout TokenValue) -> Int? {
    let start = offset(token)
    let length = end(token) - start
    guard let kind = JSONScalar.kind(of: bytes + start, count: length) else { return nil }
    value.kind = kind
    value.start = UInt32(start)
    value.count = UInt32(length)
    return token + 1
  }

  private func container(at token: Int, into value: inout TokenValue) -> Int? {
    guard let next = container(at: token) else { return nil }
    let start = offset(token)
    value.kind = bytes[start] == UInt8(ascii: "{") ? .object : .array
    value.start = UInt32(start)
    value.count = UInt32(end(next - 1) - start)
    value.token = UInt32(token)
    return next
  }

  /// Reads the object at `token`. Calls `member` with each key and the token of its value. `member`
  /// reads the value and returns the token after it.
  @inline(__always)
  func object(at token: Int, member: (_ key: TokenValue, _ token: Int) -> Int?) -> Int? {
    var index = token &+ 1
    guard index < count else { return nil }
    if byte(index) == UInt8(ascii: "}") { return index &+ 1 }
    var key = TokenValue()
    while true {
      guard index &+ 2 < count, byte(index) == UInt8(ascii: "\""),
        string(at: index, into: &key) != nil,
        byte(index &+ 1) == UInt8(ascii: ":"), let next = member(key, index &+ 2), next < count
      else { return nil }
      index = next &+ 1
      let separator = byte(next)
      if separator == UInt8(ascii: ",") { continue }
      return separator == UInt8(ascii: "}") ? index : nil
    }
  }

  /// Skips the object or array at `token` and checks its grammar. Uses no recursion: the bits of
  /// one word record the open containers, which limits the depth.
  private func container(at token: Int) -> Int? {
    var index = token
    var isObject: UInt64 = 0
    var depth = 0
    var unused = TokenValue()
    while true {
      guard index < count else { return nil }
      let opening = byte(index)
      if opening == UInt8(ascii: "{") || opening == UInt8(ascii: "[") {
        guard depth < Self.maximumDepth else { return nil }
        depth += 1
        isObject = isObject << 1 | (opening == UInt8(ascii: "{") ? 1 : 0)
        index += 1
        guard index < count else { return nil }
        if byte(index) != closing(isObject) {
          if isObject & 1 == 1 {
            guard let next = key(at: index) else { return nil }
            index = next
          }
          continue
        }
      } else {
        guard
          let next = opening == UInt8(ascii: "\"")
            ? string(at: index, into: &unused) : scalar(at: index, into: &unused)
        else { return nil }
        index = next
        guard index < count else { return nil }
      }
      while byte(index) == closing(isObject) {
        depth -= 1
        isObject >>= 1
        index += 1
        if depth == 0 { return index }
        guard index < count else { return nil }
      }
      guard byte(index) == UInt8(ascii: ",") else { return nil }
      index += 1
      if isObject & 1 == 1 {
        guard let next = key(at: index) else { return nil }
        index = next
      }
    }
  }

  private func closing(_ isObject: UInt64) -> UInt8 {
    isObject & 1 == 1 ? UInt8(ascii: "}") : UInt8(ascii: "]")
  }

  private func key(at token: Int) -> Int? {
    var unused = TokenValue()
    guard token + 1 < count, byte(token) == UInt8(ascii: "\""),
      string(at: token, into: &unused) != nil, byte(token + 1) == UInt8(ascii: ":")
    else { return nil }
    return token + 2
  }
}

/// The kind of a JSON value and its location in the line.
struct TokenValue {
  enum Kind: UInt8 {
    case string, escapedString, integer, decimal, yes, no, null, object, array
  }

  var kind = Kind.null
  /// The offset from the tokens' `bytes`. For a string, the offset of the first byte after the
  /// quote.
  var start: UInt32 = 0
  /// The length in bytes, without quotes for strings and with brackets for containers.
  var count: UInt32 = 0
  /// The token of a container's opening bracket.
  var token: UInt32 = 0
}
