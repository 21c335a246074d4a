package import LiveEvents

/// Which messages the host wants to see. All that is set must hold.
package struct ChatFilter: Equatable, Sendable, Codable {
  /// The identifier of their author.
  package var person: Text?
  /// Words that occur in them, in whatever case; empty for any.
  package var words: String
  package var mentionsOnly: Bool

  package init(person: Text? = nil, words: String = "", mentionsOnly: Bool = false) {
    self.person = person
    self.words = words
    self.mentionsOnly = mentionsOnly
  }

  package var isEmpty: Bool { person == nil && words.isEmpty && !mentionsOnly }

  /// - Complexity: O(length of the text) if words are asked for.
  func passes(_ message: DisplayedMessage) -> Bool {
    if mentionsOnly, !message.isMention { return false }
    if let person, message.message.userID != person { return false }
    return words.isEmpty || occurs(words, in: message.message.text)
  }
}

/// Names whose mention is marked: `@name`, in whatever case, as a whole word.
package struct MentionedNames: Equatable, Sendable, Codable {
  package private(set) var names: [String]

  package init(_ names: [String] = []) { self.names = names.filter { !$0.isEmpty } }

  var isEmpty: Bool { names.isEmpty }

  func occur(in text: Text) -> Bool {
    names.contains { occurs("@" + $0, in: text, wholeWord: true) }
  }
}

/// Whether `words` occur in `text`; letters of ASCII match in either case.
private func occurs(_ words: String, in text: Text, wholeWord: Bool = false) -> Bool {
  let wanted = words.utf8.map(lowercased)
  return text.withUTF8 { bytes in
    guard !wanted.isEmpty, wanted.count <= bytes.count else { return wanted.isEmpty }
    return (0...(bytes.count - wanted.count)).contains { start in
      let end = start + wanted.count
      return wanted.indices.allSatisfy { lowercased(bytes[start + $0]) == wanted[$0] }
        && (!wholeWord || end == bytes.count || !isPartOfWord(bytes[end]))
    }
  }
}

private func lowercased(_ byte: UInt8) -> UInt8 { byte >= 65 && byte <= 90 ? byte + 32 : byte }

/// Letters, digits, `_` and all that is not ASCII.
private func isPartOfWord(_ byte: UInt8) -> Bool {
  byte >= 128 || byte == 95 || (byte >= 48 && byte <= 57)
    || (lowercased(byte) >= 97 && lowercased(byte) <= 122)
}
