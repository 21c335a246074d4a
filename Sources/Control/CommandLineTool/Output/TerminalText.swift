import Wording

/// Text of strangers, made fit for a terminal.
package enum TerminalText {
  /// Without characters that control a terminal or reorder a line: chat is written by strangers, and an escape sequence
  /// in it must stay text. Characters that belong to the spelling of a script stay; see ``SafeText``.
  package static func sanitized(_ text: some StringProtocol) -> String {
    // Chat clients append U+E0000, which shows nothing anywhere, so that a repeated message counts as another.
    guard text.unicodeScalars.contains("\u{E0000}") else { return SafeText.spelled(text) }
    let shown = text.unicodeScalars.filter { $0.value != 0xE0000 }
    return SafeText.spelled(String(String.UnicodeScalarView(shown)))
  }

  /// Columns that a text takes in a terminal.
  package static func width(_ text: some StringProtocol) -> Int {
    text.reduce(0) { $0 + width(of: $1) }
  }

  /// Cut to a width, with an ellipsis where something is missing.
  package static func fitted(_ text: String, width limit: Int) -> String {
    guard width(text) > limit else { return text }
    guard limit > 0 else { return "" }
    return prefix(text, width: limit - 1) + "…"
  }

  /// As much of the beginning as has room in a width.
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

  /// Fitted and filled up with spaces.
  package static func padded(_ text: String, width limit: Int) -> String {
    let text = fitted(text, width: limit)
    return text + String(repeating: " ", count: max(0, limit - width(text)))
  }

  /// ASCII characters for those that screens are drawn with, where the locale is not UTF-8.
  static let substitutes: [Character: Character] = [
    "─": "-", "━": "=", "│": "|", "┃": "|", "┬": "+", "┴": "+", "├": "+", "┤": "+", "┼": "+",
    "┌": "+", "┐": "+", "█": "#", "░": "-", "▁": "_", "▂": ".", "▃": ":", "▄": "-", "▅": "=",
    "▆": "+", "▇": "*", "…": "~",
  ]

  /// The same text with ``substitutes``.
  package static func ascii(_ text: String) -> String {
    String(text.map { substitutes[$0] ?? $0 })
  }

  /// Columns that a character takes: 0, 1 or 2.
  package static func width(of character: Character) -> Int {
    guard let first = character.unicodeScalars.first else { return 0 }
    if character.unicodeScalars.contains(where: { $0.value == 0xFE0F }) { return 2 }
    switch first.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return isWide(first) ? 2 : 1
    }
  }

  /// Unicode Standard Annex 11, "wide" and "fullwidth", in blocks; and pictures.
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
