/// Makes text from untrusted users safe to show: keeps its spelling, but replaces characters that
/// would affect the surrounding text.
///
/// Joiners, direction marks and similar characters are needed to spell Persian, Hindi, Khmer and
/// emoji, so they are kept. Three kinds of characters are replaced by U+FFFD: control characters,
/// which control a terminal; embeddings and overrides of the writing direction (U+202A to U+202E),
/// which reorder the rest of a line; and isolates (U+2066 to U+2069) that are not closed within the
/// text. Unicode Standard Annex 9 describes their effects.
package enum SafeText {
  /// Returns the safe text. Each scalar is kept or replaced by exactly one scalar, so that
  /// positions stay valid.
  ///
  /// - Complexity: O(length). ASCII text without control characters is returned unchanged.
  package static func spelled(_ text: some StringProtocol) -> String {
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return String(text) }
    var scalars = Array(text.unicodeScalars)
    var open: [Int] = []
    for index in scalars.indices {
      switch scalars[index].value {
      case 0x2066...0x2068: open.append(index)
      case 0x2069 where !open.isEmpty: open.removeLast()
      case 0x2069: scalars[index] = replacement
      default: if !isHarmless(scalars[index]) { scalars[index] = replacement }
      }
    }
    for index in open { scalars[index] = replacement }
    return String(String.UnicodeScalarView(scalars))
  }

  private static let replacement: Unicode.Scalar = "\u{FFFD}"

  private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
    case .format:
      switch scalar.value {
      // Embeddings and overrides, deprecated shaping controls, annotations, and the deprecated
      // language tag.
      case 0x202A...0x202E, 0x206A...0x206F, 0xFFF9...0xFFFB, 0xE0001: false
      default: true
      }
    default: true
    }
  }
}
