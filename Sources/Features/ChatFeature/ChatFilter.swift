package import LiveEvents

/// Which messages the host wants to see. A message must satisfy everything that is set.
package struct ChatFilter: Equatable, Sendable, Codable {
  /// The identifier of their author.
  package let person: Text?
  /// Text that occurs in them, ignoring case; empty for any text.
  package let words: String
  package let mentionsOnly: Bool
  private let pattern: TextPattern

  package init(person: Text? = nil, words: String = "", mentionsOnly: Bool = false) {
    self.person = person
    self.words = words
    self.mentionsOnly = mentionsOnly
    pattern = TextPattern(words)
  }

  private enum CodingKeys: CodingKey { case person, words, mentionsOnly }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      person: try container.decodeIfPresent(Text.self, forKey: .person),
      words: try container.decode(String.self, forKey: .words),
      mentionsOnly: try container.decode(Bool.self, forKey: .mentionsOnly))
  }

  package var isEmpty: Bool { person == nil && words.isEmpty && !mentionsOnly }

  /// - Complexity: O(length of the text) if there are words to look for.
  func passes(_ message: DisplayedMessage) -> Bool {
    if mentionsOnly, !message.isMention { return false }
    if let person, message.message.userID != person { return false }
    return words.isEmpty || pattern.occurs(in: message.message.text)
  }
}

/// Names whose mentions are marked: `@name` as a whole word, ignoring case.
package struct MentionedNames: Equatable, Sendable, Codable {
  package let names: [String]
  private let patterns: [TextPattern]

  package init(_ names: [String] = []) {
    self.names = names.filter { !$0.isEmpty }
    patterns = self.names.map { TextPattern("@" + $0, wholeWord: true) }
  }

  private enum CodingKeys: CodingKey { case names }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(try container.decode([String].self, forKey: .names))
  }

  var isEmpty: Bool { names.isEmpty }

  func occur(in text: Text) -> Bool { patterns.contains { $0.occurs(in: text) } }
}

/// Text to look for, ignoring the case of ASCII letters. Prepared once, so that a search allocates
/// nothing.
struct TextPattern: Equatable, Sendable {
  private let wanted: [UInt8]
  private let wholeWord: Bool

  init(_ words: String, wholeWord: Bool = false) {
    wanted = words.utf8.map(\.asciiLowercased)
    self.wholeWord = wholeWord
  }

  /// - Complexity: O(length of the text times that of the words); in practice O(length of the
  ///   text).
  func occurs(in text: Text) -> Bool {
    text.withUTF8 { bytes in
      guard !wanted.isEmpty, wanted.count <= bytes.count else { return wanted.isEmpty }
      return (0...(bytes.count - wanted.count)).contains { start in
        let end = start + wanted.count
        return wanted.indices.allSatisfy { bytes[start + $0].asciiLowercased == wanted[$0] }
          && (!wholeWord || end == bytes.count || !isPartOfWord(bytes[end]))
      }
    }
  }
}

/// Whether a byte is a letter, a digit, `_`, or not ASCII.
private func isPartOfWord(_ byte: UInt8) -> Bool {
  byte >= 128 || byte == 95 || (byte >= 48 && byte <= 57)
    || (byte.asciiLowercased >= 97 && byte.asciiLowercased <= 122)
}
