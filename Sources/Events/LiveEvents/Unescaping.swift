/// Resolves the escapes of texts, which are stored as received.
enum Unescaping {
  /// Resolves the escapes of a JSON string (RFC 8259, section 7), which the line decoder has
  /// validated. A lone surrogate becomes U+FFFD.
  static func json(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    var position = 0
    while position < bytes.count {
      guard bytes[position] == UInt8(ascii: "\\"), position + 1 < bytes.count else {
        out.append(bytes[position])
        position += 1
        continue
      }
      position += 2
      switch bytes[position - 1] {
      case UInt8(ascii: "n"): out.append(0x0A)
      case UInt8(ascii: "r"): out.append(0x0D)
      case UInt8(ascii: "t"): out.append(0x09)
      case UInt8(ascii: "b"): out.append(0x08)
      case UInt8(ascii: "f"): out.append(0x0C)
      case UInt8(ascii: "u"):
        let scalar = unicodeScalar(bytes, at: &position)
        out.append(contentsOf: String(Character(scalar)).utf8)
      case let other: out.append(other)
      }
    }
    return out
  }

  /// Returns the elements of a JSON array of strings, joined by commas. The line decoder has
  /// validated the array.
  static func jsonStrings(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    var start: Int?
    var isFirst = true
    var position = 0
    while position < bytes.count {
      if bytes[position] == UInt8(ascii: "\\"), start != nil {
        position += 2
        continue
      }
      if bytes[position] == UInt8(ascii: "\"") {
        if let begin = start {
          if !isFirst { out.append(UInt8(ascii: ",")) }
          out.append(contentsOf: json(UnsafeBufferPointer(rebasing: bytes[begin..<position])))
          isFirst = false
          start = nil
        } else {
          start = position + 1
        }
      }
      position += 1
    }
    return out
  }

  /// Reads `XXXX` or, for a surrogate pair, `XXXX\uXXXX` at `position`, and advances `position`
  /// past it.
  private static func unicodeScalar(
    _ bytes: UnsafeBufferPointer<UInt8>, at position: inout Int
  ) -> Unicode.Scalar {
    let replacement: Unicode.Scalar = "\u{FFFD}"
    guard let first = hex4(bytes, at: position) else { return replacement }
    position += 4
    guard (0xD800..<0xDC00).contains(first) else { return Unicode.Scalar(first) ?? replacement }
    guard position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
      bytes[position + 1] == UInt8(ascii: "u"),
      let second = hex4(bytes, at: position + 2), (0xDC00..<0xE000).contains(second)
    else { return replacement }
    position += 6
    return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)) ?? replacement
  }

  private static func hex4(_ bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> UInt32? {
    guard start + 4 <= bytes.count else { return nil }
    var value: UInt32 = 0
    for byte in bytes[start..<start + 4] {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
      value = value << 4 | UInt32(digit)
    }
    return value
  }

  /// Resolves the escapes of IRCv3 message tags ("Escaping values"). Drops a lone backslash at the
  /// end.
  static func ircTag(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    var escaped = false
    for byte in bytes {
      guard escaped else {
        if byte == UInt8(ascii: "\\") { escaped = true } else { out.append(byte) }
        continue
      }
      escaped = false
      switch byte {
      case UInt8(ascii: "s"): out.append(0x20)
      case UInt8(ascii: ":"): out.append(UInt8(ascii: ";"))
      case UInt8(ascii: "r"): out.append(0x0D)
      case UInt8(ascii: "n"): out.append(0x0A)
      default: out.append(byte)
      }
    }
    return out
  }
}
