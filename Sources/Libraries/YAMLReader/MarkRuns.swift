extension String {
  /// The maximum number of consecutive combining marks, more than any language needs (Unicode's
  /// Stream-Safe Text Format, UAX #15).
  private static let longestMarkRun = 30

  /// Whether comparing and hashing the text takes time linear in its length. Swift sorts the
  /// combining marks after a character, which takes time quadratic in their number. Escapes in
  /// quoted YAML text count as the characters that they represent.
  ///
  /// - Complexity: O(length).
  package var hasShortMarkRuns: Bool {
    var marks = 0
    var rest = unicodeScalars[...]
    while var scalar = rest.popFirst() {
      if scalar == "\\", let kind = rest.first {
        if kind.isLineBreak {
          // Neither the line break nor the following indentation belongs to the text.
          rest = rest.drop { $0.isLineBreak || $0 == " " || $0 == "\t" }
          continue
        }
        rest.removeFirst()
        let digits = rest.prefix(kind == "u" ? 4 : kind == "U" ? 8 : 0)
        if let escaped = UInt32(String(digits), radix: 16).flatMap(Unicode.Scalar.init) {
          scalar = escaped
          rest = rest[digits.endIndex...]
        }
      }
      let isMark =
        !scalar.isASCII && scalar.properties.canonicalCombiningClass != .notReordered
      marks = isMark ? marks + 1 : 0
      if marks > Self.longestMarkRun { return false }
    }
    return true
  }
}

extension Unicode.Scalar {
  /// Whether the scalar is a line break of YAML 1.1.
  fileprivate var isLineBreak: Bool {
    switch self {
    case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}": true
    default: false
    }
  }
}
