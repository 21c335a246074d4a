import Wording

/// Functions that make untrusted text safe for a terminal, and that measure and cut text.
package enum TerminalText {
  /// Removes characters that control a terminal or reorder a line, because anyone can write chat
  /// messages. Keeps invisible characters that some scripts need for correct spelling; see
  /// ``SafeText``.
  package static func sanitized(_ text: some StringProtocol) -> String {
    // Chat clients append the invisible U+E0000 so that platforms accept a repeated message.
    guard text.unicodeScalars.contains("\u{E0000}") else { return SafeText.spelled(text) }
    let shown = text.unicodeScalars.filter { $0.value != 0xE0000 }
    return SafeText.spelled(String(String.UnicodeScalarView(shown)))
  }

  /// Returns the number of terminal columns that a text occupies.
  package static func width(_ text: some StringProtocol) -> Int {
    text.reduce(0) { $0 + width(of: $1) }
  }

  /// Returns the text, cut with an ellipsis if it is wider than `limit`.
  package static func fitted(_ text: String, width limit: Int) -> String {
    guard width(text) > limit else { return text }
    guard limit > 0 else { return "" }
    return prefix(text, width: limit - 1) + "…"
  }

  /// Returns the longest prefix of the text that fits a width.
  package static func prefix(_ text: String, width limit: Int) -> String {
    var result = ""
    var used = 0
    for character in text {
      used += width(of: character)
      if used > limit { break }
      result.append(character)
    }
    return result
  }

  /// Returns the text, cut or padded with spaces to exactly the given width.
  package static func padded(_ text: String, width limit: Int) -> String {
    let text = fitted(text, width: limit)
    return text + String(repeating: " ", count: max(0, limit - width(text)))
  }

  /// The ASCII substitute of each drawing character, for locales that do not use UTF-8.
  static let substitutes: [Character: Character] = [
    "─": "-", "━": "=", "│": "|", "┃": "|", "┬": "+", "┴": "+", "├": "+", "┤": "+", "┼": "+",
    "┌": "+", "┐": "+", "█": "#", "░": "-", "▁": "_", "▂": ".", "▃": ":", "▄": "-", "▅": "=",
    "▆": "+", "▇": "*", "…": "~",
  ]

  /// Returns the text with each drawing character replaced by its ASCII substitute.
  package static func ascii(_ text: String) -> String {
    String(text.map { substitutes[$0] ?? $0 })
  }

  /// Returns the number of columns that a character occupies: 0, 1 or 2.
  package static func width(of character: Character) -> Int {
    guard let first = character.unicodeScalars.first else { return 0 }
    if character.unicodeScalars.contains(where: { $0.value == 0xFE0F }) { return 2 }
    switch first.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return isWide(first) ? 2 : 1
    }
  }

  /// Returns whether a character is "wide" or "fullwidth" (Unicode Standard Annex 11, approximated
  /// by blocks) or an emoji.
  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value < 0x1100 { return false }
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
      0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
      return true
    default: return scalar.properties.isEmojiPresentation
    }
  }
}
