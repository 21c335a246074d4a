import TerminalScreen
import Testing

@Suite struct TerminalTextTests {
  @Test func `wide characters count as two columns and combining marks as none`() {
    #expect(TerminalText.width("abc") == 3)
    #expect(TerminalText.width("日本") == 4)
    #expect(TerminalText.width("e\u{301}") == 1)
    #expect(TerminalText.width("👩‍👩‍👧") == 2)
    #expect(TerminalText.fitted("日本語", width: 4) == "日…")
    #expect(TerminalText.padded("日本", width: 5) == "日本 ")
    #expect(TerminalText.fitted("abc", width: 0) == "")
  }

  @Test(arguments: ["\u{1B}", "\u{9B}", "\u{07}", "\n", "\u{202E}", "\u{2028}", "\u{7F}"])
  func `control characters in printed text become a replacement character`(text: String) {
    #expect(TerminalText.sanitized("a\(text)b") == "a\u{FFFD}b")
  }

  /// Characters that the spelling of a script requires, by the name of the script.
  @Test(arguments: [
    ("Persian", "\u{646}\u{645}\u{6CC}\u{200C}\u{62E}\u{648}\u{627}\u{647}\u{645}"),
    ("Hindi", "\u{915}\u{94D}\u{200D}\u{937}"), ("Bengali", "\u{9B0}\u{9CD}\u{200C}\u{9AF}"),
    ("Hebrew", "\u{5E9}\u{5DC}\u{5D5}\u{5DD}\u{200F}!"), ("Arabic", "\u{627}\u{61C}\u{200E}12"),
    ("Khmer", "\u{1780}\u{17D2}\u{1781}\u{200B}\u{1782}"), ("grapheme joiner", "a\u{34F}b"),
    ("Mongolian", "\u{1820}\u{180B}"), ("isolate", "a\u{2067}\u{5D0}\u{2069}b"),
    ("woman technologist", "\u{1F469}\u{200D}\u{1F4BB}"), ("heart", "\u{2764}\u{FE0F}"),
    ("flag of Scotland", "\u{1F3F4}\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}"),
    ("flag of Korea", "\u{1F1F0}\u{1F1F7}"), ("keycap", "1\u{FE0F}\u{20E3}"),
  ])
  func `printable text of any script is printed unchanged`(script: String, text: String) {
    #expect(TerminalText.sanitized(text).unicodeScalars.elementsEqual(text.unicodeScalars))
  }

  @Test(arguments: [
    "\u{202A}", "\u{202B}", "\u{202C}", "\u{202D}", "\u{202E}", "\u{2066}", "\u{2068}", "\u{2069}",
    "\u{FFF9}", "\u{206A}", "\u{E0001}",
  ])
  func `characters that reorder the text after them are replaced`(text: String) {
    #expect(TerminalText.sanitized("a\(text)b") == "a\u{FFFD}b")
  }

  @Test func `emoji sequences are not split`() { #expect(TerminalText.sanitized("👩‍👩‍👧 ü") == "👩‍👩‍👧 ü") }
}
