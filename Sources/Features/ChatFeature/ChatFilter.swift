package import LiveEvents

/// The host's filter for messages. A message must meet all conditions that are set.
package struct ChatFilter: Equatable, Sendable, Codable {
  /// The identifier of the author.
  package let person: Text?
  /// Text that must occur in the first ``TextSearch/searchedBytes`` bytes of the message,
  /// ignoring case. If empty, any text passes.
  package let words: String
  package let mentionsOnly: Bool
  /// The platform of the message.
  package let platform: Text?
  private let search: TextSearch

  package init(
    person: Text? = nil, words: String = "", mentionsOnly: Bool = false, platform: Text? = nil
  ) {
    self.person = person
    self.words = words
    self.mentionsOnly = mentionsOnly
    self.platform = platform
    search = TextSearch([words])
  }

  private enum CodingKeys: CodingKey { case person, words, mentionsOnly, platform }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      person: try container.decodeIfPresent(Text.self, forKey: .person),
      words: try container.decode(String.self, forKey: .words),
      mentionsOnly: try container.decode(Bool.self, forKey: .mentionsOnly),
      platform: try container.decodeIfPresent(Text.self, forKey: .platform))
  }

  package var isEmpty: Bool { person == nil && words.isEmpty && !mentionsOnly && platform == nil }

  /// Takes O(length of the text) if words are searched, regardless of the words.
  func passes(_ message: DisplayedMessage) -> Bool {
    if mentionsOnly, !message.isMention { return false }
    if let person, message.message.userID != person { return false }
    if let platform, message.origin.platform != platform { return false }
    return words.isEmpty || search.occurs(in: message.message.text)
  }
}

/// Names whose mentions are highlighted. A mention is `@name` as a whole word, ignoring case.
package struct MentionedNames: Equatable, Sendable, Codable {
  package let names: [String]
  private let search: TextSearch

  package init(_ names: [String] = []) {
    self.names = names.filter { !$0.isEmpty }
    search = TextSearch(self.names.map { "@" + $0 }, wholeWord: true)
  }

  private enum CodingKeys: CodingKey { case names }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(try container.decode([String].self, forKey: .names))
  }

  var isEmpty: Bool { names.isEmpty }

  /// Takes O(length of the text), regardless of the names and their number.
  func occur(in text: Text) -> Bool { search.occurs(in: text) }
}

extension ChatFilter: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(names: person, platform, in: "person")
    try require(names: words, in: "words")
  }
}
