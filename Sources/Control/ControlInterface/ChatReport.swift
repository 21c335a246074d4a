/// The chat of a room.
public struct ChatReport: Codable, Sendable, Equatable {
  /// Messages so far, deleted ones included.
  public var total: Int
  public var deleted: Int
  /// People who wrote a message.
  public var chatters: Int
  /// Messages per second, lately.
  public var rate: Double
  /// The newest messages, oldest first; their number is bounded.
  public var messages: [ChatMessageReport]
  /// Deletions, time-outs, bans and clearings so far.
  public var moderations: Int
  /// Subscriptions, gifts, raids and the like so far.
  public var notices: Int
  public var busiestSecond: BusiestSecond
  /// Messages in the ten seconds before the newest one.
  public var recent: Int?
  /// Who wrote most, the busiest first.
  public var topChatters: [TopChatterReport]?
  /// The modes in force; nil while the source told none.
  public var modes: ChatModesReport?
  /// The last notices, oldest first; a gift bomb and its gifts are one.
  public var noticeQueue: [NoticeReport]?
  /// Which messages the host wants to see; nil for all.
  public var filter: ChatFilterReport?
  /// The newest messages that pass the filter; nil while there is none.
  public var filtered: [ChatMessageReport]?
  /// Names whose mention is marked.
  public var mentionedNames: [String]?
  /// Messages that came since the host scrolled back; nil while the newest are read.
  public var unread: Int?
  /// The messages of the thread that is open; nil while none is.
  public var thread: [ChatMessageReport]?

  public init(
    total: Int = 0, deleted: Int = 0, chatters: Int = 0, rate: Double = 0,
    messages: [ChatMessageReport] = [], moderations: Int = 0, notices: Int = 0,
    busiestSecond: BusiestSecond = .init(), recent: Int? = nil,
    topChatters: [TopChatterReport]? = nil, modes: ChatModesReport? = nil,
    noticeQueue: [NoticeReport]? = nil, filter: ChatFilterReport? = nil,
    filtered: [ChatMessageReport]? = nil, mentionedNames: [String]? = nil, unread: Int? = nil,
    thread: [ChatMessageReport]? = nil
  ) {
    self.total = total
    self.deleted = deleted
    self.chatters = chatters
    self.rate = rate
    self.messages = messages
    self.moderations = moderations
    self.notices = notices
    self.busiestSecond = busiestSecond
    self.recent = recent
    self.topChatters = topChatters
    self.modes = modes
    self.noticeQueue = noticeQueue
    self.filter = filter
    self.filtered = filtered
    self.mentionedNames = mentionedNames
    self.unread = unread
    self.thread = thread
  }
}

/// A person and the number of their messages.
public struct TopChatterReport: Codable, Sendable, Equatable {
  public var user: UserReport
  public var messages: Int

  public init(user: UserReport, messages: Int) {
    self.user = user
    self.messages = messages
  }
}

/// The largest number of chat messages within one second, by their time stamps.
public struct BusiestSecond: Codable, Sendable, Equatable {
  /// Within one second of the clock.
  public var byClock: Int
  /// Within any window of one second.
  public var sliding: Int

  public init(byClock: Int = 0, sliding: Int = 0) {
    self.byClock = byClock
    self.sliding = sliding
  }
}

/// A message in chat.
public struct ChatMessageReport: Codable, Sendable, Equatable {
  public var id: String
  public var user: UserReport
  public var text: String
  /// Milliseconds since 1970.
  public var timestamp: Int
  /// Taken down by a moderator.
  public var deleted: Bool
  /// The identifier of the message that it answers.
  public var replyTo: String?
  /// True if it mentions somebody whose name is marked; else nil.
  public var mention: Bool?

  public init(
    id: String, user: UserReport, text: String, timestamp: Int, deleted: Bool = false,
    replyTo: String? = nil, mention: Bool? = nil
  ) {
    self.id = id
    self.user = user
    self.text = text
    self.timestamp = timestamp
    self.deleted = deleted
    self.replyTo = replyTo
    self.mention = mention
  }
}

/// A person in chat.
public struct UserReport: Codable, Sendable, Equatable {
  public var id: String
  public var name: String
  /// As the platform names them; nil means none.
  public var badges: [String]?

  public init(id: String, name: String, badges: [String]? = nil) {
    self.id = id
    self.name = name
    self.badges = badges
  }
}
