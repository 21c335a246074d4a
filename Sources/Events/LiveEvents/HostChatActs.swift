// What host actions on the chat refer to.

/// The host's filter for messages. A message must meet every condition that is set.
public struct MessageFilter: Sendable, Hashable {
  /// The identifier of the author.
  public var person: Text?
  /// Words that must occur in the message, ignoring case.
  public var words: Text?
  public var mentionsOnly: Bool
  /// The platform of the message.
  public var platform: Text?

  public init(
    person: Text? = nil, words: Text? = nil, mentionsOnly: Bool = false, platform: Text? = nil
  ) {
    self.person = person
    self.words = words
    self.mentionsOnly = mentionsOnly
    self.platform = platform
  }
}

/// The host's reading position in the chat.
public enum ScrollPosition: String, Sendable, CaseIterable, Codable {
  /// The host reads older messages, so new messages are unread.
  case back
  /// The host reads the newest messages.
  case end
}

/// What the host does with a notice or a row of the feed.
public enum NoticeHandling: String, Sendable, CaseIterable, Codable { case pin, unpin, dismiss }

/// A person of the chat, as host actions name them.
public struct PersonReference: Sendable, Hashable, Codable {
  /// The platform's identifier of the person.
  public let id: Text
  /// The platform of the person, or `nil` for any platform.
  public let platform: Text?

  /// Creates a reference that owns its texts.
  public init(id: Text, platform: Text? = nil) {
    self.id = id.owned()
    self.platform = platform?.owned()
  }

  /// Returns whether both can be the same person. A reference without a platform matches the person
  /// with this identifier on any platform.
  package func matches(_ other: PersonReference) -> Bool {
    guard id == other.id else { return false }
    guard let platform, let otherPlatform = other.platform else { return true }
    return platform == otherPlatform
  }
}

/// A note of the host about a person.
public struct PersonNote: Sendable, Hashable {
  public let person: PersonReference
  /// A single line, or an empty text, which removes the note.
  public let text: Text

  /// The maximum length of a note in bytes of UTF-8.
  public static let textLength = 500

  /// Creates a note that owns its text. Fails if the text is too long, or has control characters
  /// such as line breaks.
  public init?(about person: PersonReference, _ text: Text) {
    guard text.fits(Self.textLength),
      !String(text).unicodeScalars.contains(where: {
        $0.properties.generalCategory == .control
      })
    else { return nil }
    self.person = person
    self.text = text.owned()
  }
}

extension PersonReference: Bounded {
  package func checkBounds() throws(OutOfBounds) { try require(names: id, platform, in: "id") }
}
