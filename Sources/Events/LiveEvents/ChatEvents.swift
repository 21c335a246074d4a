/// A message somebody wrote.
///
/// Holds one reference to its slab and the places of its texts, so that moving it costs one
/// reference count, not five.
public struct ChatMessage: Sendable {
  @usableFromInline let slab: ByteSlab
  @usableFromInline let slices: Slices
  /// Cheered bits; 0 for an ordinary message.
  public let bits: UInt32

  /// Where the texts of a message stand in its slab.
  public struct Slices: Sendable {
    public var id: ByteSlab.Slice
    public var userID: ByteSlab.Slice
    public var userName: ByteSlab.Slice
    public var badges: ByteSlab.Slice
    public var text: ByteSlab.Slice
    public var replyTo: ByteSlab.Slice

    @inlinable
    public init(
      id: ByteSlab.Slice, userID: ByteSlab.Slice, userName: ByteSlab.Slice,
      badges: ByteSlab.Slice = .empty, text: ByteSlab.Slice, replyTo: ByteSlab.Slice = .empty
    ) {
      self.id = id
      self.userID = userID
      self.userName = userName
      self.badges = badges
      self.text = text
      self.replyTo = replyTo
    }
  }

  @inlinable
  public init(slab: ByteSlab, slices: Slices, bits: UInt32 = 0) {
    self.slab = slab
    self.slices = slices
    self.bits = bits
  }

  /// A message that owns its texts; for tests, generators and requests.
  public init(
    id: String, userID: String, userName: String, badges: String = "", text: String,
    replyTo: String = "", bits: UInt32 = 0
  ) {
    var bytes: [UInt8] = []
    func append(_ string: String) -> ByteSlab.Slice {
      let start = bytes.count
      bytes.append(contentsOf: string.utf8)
      return ByteSlab.Slice(offset: start, count: bytes.count - start)
    }
    let slices = Slices(
      id: append(id), userID: append(userID), userName: append(userName), badges: append(badges),
      text: append(text), replyTo: append(replyTo))
    self.init(slab: ByteSlab(bytes), slices: slices, bits: bits)
  }

  /// Unique within its room; used by `chat.delete`.
  @inlinable public var id: Text { Text(slab: slab, slice: slices.id) }
  @inlinable public var userID: Text { Text(slab: slab, slice: slices.userID) }
  @inlinable public var userName: Text { Text(slab: slab, slice: slices.userName) }
  /// Comma-separated, as in `subscriber/5,premium/1`; empty if there are none.
  @inlinable public var badges: Text { Text(slab: slab, slice: slices.badges) }
  @inlinable public var text: Text { Text(slab: slab, slice: slices.text) }
  /// The message that this one answers; empty if none.
  @inlinable public var replyTo: Text { Text(slab: slab, slice: slices.replyTo) }
}

extension ChatMessage: Hashable {
  public static func == (lhs: ChatMessage, rhs: ChatMessage) -> Bool {
    lhs.id == rhs.id && lhs.userID == rhs.userID && lhs.userName == rhs.userName
      && lhs.badges == rhs.badges && lhs.text == rhs.text && lhs.replyTo == rhs.replyTo
      && lhs.bits == rhs.bits
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// A person as events name them.
public struct Person: Sendable, Hashable, Codable {
  public var id: Text
  public var name: Text

  public init(id: Text, name: Text) {
    self.id = id
    self.name = name
  }
}

/// A person was silenced; what they wrote is taken off the screen.
public struct ChatTimeout: Sendable, Hashable {
  public var user: Person
  /// Length in seconds; `nil` for a ban.
  public var seconds: Int?

  public init(user: Person, seconds: Int?) {
    self.user = user
    self.seconds = seconds
  }
}

/// Something worth a line of its own: a subscription, a gift, a raid.
public struct ChatNotice: Sendable, Hashable, Codable {
  public enum Kind: String, Sendable, CaseIterable, Codable {
    case subscribe, resubscribe, gift, giftBomb, raid, cheer
  }

  public var kind: Kind
  public var user: Person
  /// Gifts, months, viewers or bits, by kind.
  public var count: Int
  /// Joins a gift bomb and its gifts; `nil` if the notice stands alone.
  public var group: Text?

  public init(kind: Kind, user: Person, count: Int, group: Text? = nil) {
    self.kind = kind
    self.user = user
    self.count = count
    self.group = group
  }
}

/// Which modes of the chat changed; `nil` where one did not. Shown, never enforced.
public struct ChatModes: Sendable, Hashable, Codable {
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
