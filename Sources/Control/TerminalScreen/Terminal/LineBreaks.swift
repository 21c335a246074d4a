/// Finds the positions where a line of text may end: at spaces, and before and after emoji and
/// Chinese or Japanese characters, which are written without spaces. Korean has spaces.
///
/// Implements the part of Unicode Standard Annex 14 that is needed for chat messages: the classes
/// ID, CL, NS, CJ, EX and OP.
enum LineBreaks {
  /// Returns the pieces of a text between these positions. Each piece includes the spaces before
  /// it.
  static func words(_ text: String) -> [String] {
    var words: [String] = []
    var word = ""
    var last: Character?
    for character in text {
      if let last, last != " ", isBreak(between: last, and: character) {
        words.append(word)
        word = ""
      }
      word.append(character)
      last = character
    }
    return word.isEmpty ? words : words + [word]
  }

  private static func isBreak(between one: Character, and other: Character) -> Bool {
    if other == " " { return true }
    return (standsAlone(one) || standsAlone(other)) && !closing.contains(other)
      && !opening.contains(one)
  }

  private static func standsAlone(_ character: Character) -> Bool {
    guard let first = character.unicodeScalars.first, first.value >= 0x2E80 else { return false }
    switch first.value {
    case 0xA960...0xA97F, 0xAC00...0xD7A3: return false
    default: return TerminalText.width(of: character) == 2
    }
  }

  /// Characters that cannot begin a line.
  private static let closing = Set(
    "、。，．・：；？！‼⁇々〻ー〜゛゜」』）］｝】〉》〕〗〙ゝゞヽヾ" + "ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ"
      + ",.:;!?)]}%…")
  /// Characters that cannot end a line.
  private static let opening = Set("「『（［｛【〈《〔〖〘([{")
}
