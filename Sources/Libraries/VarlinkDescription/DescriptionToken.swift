/// A token of a definition text.
struct DescriptionToken: Equatable {
  enum Kind: Equatable {
    /// Letters, digits and `_`; also `.` and `-` immediately after the keyword `interface`.
    case word(String)
    /// One of `( ) , : ? [] [string] ->`.
    case symbol(String)
    /// The text after `#`, without one leading space.
    case comment(String)
    case end
  }
  let kind: Kind
  let line: Int
  let column: Int
}

/// Splits a definition text into tokens and skips white space.
struct DescriptionScanner {
  private let bytes: [UInt8]
  private var offset = 0
  private var line = 1
  private var lineStart = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  private static let symbols = ["(", ")", ",", ":", "?", "[]", "[string]", "->"].map {
    Array($0.utf8)
  }

  static func isLetter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    default: false
    }
  }

  static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  /// - Parameter asInterfaceName: Whether `.` and `-` belong to the word.
  mutating func next(asInterfaceName: Bool = false) throws(DescriptionError) -> DescriptionToken {
    skipWhiteSpace()
    let column = offset - lineStart + 1
    guard offset < bytes.count else {
      return DescriptionToken(kind: .end, line: line, column: column)
    }
    let start = offset
    if bytes[start] == UInt8(ascii: "#") { return comment(column: column) }
    while offset < bytes.count, isWord(bytes[offset], asInterfaceName) { offset += 1 }
    if offset > start {
      let word = String(decoding: bytes[start..<offset], as: UTF8.self)
      return DescriptionToken(kind: .word(word), line: line, column: column)
    }
    for symbol in Self.symbols where bytes[start...].starts(with: symbol) {
      offset += symbol.count
      let text = String(decoding: symbol, as: UTF8.self)
      return DescriptionToken(kind: .symbol(text), line: line, column: column)
    }
    throw DescriptionError(line: line, column: column, message: "unexpected character")
  }

  private func isWord(_ byte: UInt8, _ asInterfaceName: Bool) -> Bool {
    Self.isLetter(byte) || Self.isDigit(byte) || byte == UInt8(ascii: "_")
      || asInterfaceName && (byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-"))
  }

  private mutating func skipWhiteSpace() {
    while offset < bytes.count {
      switch bytes[offset] {
      case 0x20, 0x09, 0x0D: offset += 1
      case 0x0A:
        offset += 1
        line += 1
        lineStart = offset
      default: return
      }
    }
  }

  private mutating func comment(column: Int) -> DescriptionToken {
    var start = offset + 1
    while offset < bytes.count, bytes[offset] != 0x0A, bytes[offset] != 0x0D { offset += 1 }
    if start < offset, bytes[start] == 0x20 { start += 1 }
    let text = String(decoding: bytes[start..<offset], as: UTF8.self)
    return DescriptionToken(kind: .comment(text), line: line, column: column)
  }
}
