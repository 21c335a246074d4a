/// The modes of a chat; nil is what the source did not tell.
public struct ChatModesReport: Codable, Sendable, Equatable {
  /// Seconds between messages of one person; 0 is off.
  public var slowSeconds: Int?
  public var emoteOnly: Bool?
  /// Minutes somebody must have followed; -1 is off.
  public var followersOnlyMinutes: Int?
  public var subscribersOnly: Bool?
  public var uniqueOnly: Bool?

  public init(
    slowSeconds: Int? = nil, emoteOnly: Bool? = nil, followersOnlyMinutes: Int? = nil,
    subscribersOnly: Bool? = nil, uniqueOnly: Bool? = nil
  ) {
    self.slowSeconds = slowSeconds
    self.emoteOnly = emoteOnly
    self.followersOnlyMinutes = followersOnlyMinutes
    self.subscribersOnly = subscribersOnly
    self.uniqueOnly = uniqueOnly
  }
}

/// A notice that is shown: a subscription, a gift, a raid.
public struct NoticeReport: Codable, Sendable, Equatable {
  /// Its number among the notices of the room, from 1.
  public var number: Int
  /// As `chat.notice` names it; `giftBomb` for a bomb with its gifts.
  public var kind: String
  public var user: UserReport
  /// Gifts, months, viewers or bits, by kind.
  public var count: Int
  /// Milliseconds since 1970.
  public var timestamp: Int
  /// Stays until it is unpinned or dismissed.
  public var pinned: Bool

  public init(
    number: Int, kind: String, user: UserReport, count: Int, timestamp: Int, pinned: Bool = false
  ) {
    self.number = number
    self.kind = kind
    self.user = user
    self.count = count
    self.timestamp = timestamp
    self.pinned = pinned
  }
}

/// Which messages of a chat are to be seen. All that is set must hold.
public struct ChatFilterReport: Codable, Sendable, Equatable {
  /// Identifier of their author.
  public var user: String?
  /// Words that occur in them, in whatever case.
  public var words: String?
  public var mentionsOnly: Bool?

  public init(user: String? = nil, words: String? = nil, mentionsOnly: Bool? = nil) {
    self.user = user
    self.words = words
    self.mentionsOnly = mentionsOnly
  }
}
