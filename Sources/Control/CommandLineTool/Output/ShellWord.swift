import TerminalScreen

/// Quotes text for commands that users copy into a shell.
package enum ShellWord {
  /// Returns the text as one word of a POSIX shell. Characters that control a terminal are
  /// replaced, because the word is printed.
  package static func quoted(_ text: String) -> String {
    let text = TerminalText.sanitized(text)
    guard !isPlain(text) else { return text }
    return "'" + text.replacing("'", with: #"'\''"#) + "'"
  }

  /// Returns whether a text is a word that no shell changes or evaluates, and that is not an
  /// option.
  ///
  /// Examines scalars, because a character can consist of a letter and a special character. For
  /// example, U+0D4E forms one character with the scalar after it.
  package static func isPlain(_ text: String) -> Bool {
    !text.isEmpty && !text.hasPrefix("-")
      && text.unicodeScalars.allSatisfy { scalar in
        let properties = scalar.properties
        return properties.isAlphabetic || properties.numericType != nil
          || [.nonspacingMark, .spacingMark].contains(properties.generalCategory)
          || "_-.:@+,/".unicodeScalars.contains(scalar)
      }
  }
}
