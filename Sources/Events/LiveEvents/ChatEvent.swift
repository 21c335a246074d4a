/// What happens in the chat, and what the host does to it.
///
/// Each case names the native `type` that carries it.
public enum ChatEvent: Sendable, Hashable {
  /// `chat.message`
  case message(ChatMessage)
  /// `chat.delete`
  case delete(messageID: Text)
  /// `chat.clear`
  case clear
  /// `chat.timeout`
  case timeout(ChatTimeout)
  /// `chat.notice`. Boxed: it is rare and larger than a message.
  indirect case notice(ChatNotice)
  /// `chat.modes`
  case modes(ChatModes)
  /// `host.filter`: which messages the host wants to see.
  case filter(MessageFilter)
  /// `host.highlight`: names whose mention is marked, at most ``maximumHighlightedNames``.
  case highlight(names: [Text])
  /// `host.scroll`: where the host reads.
  case scroll(ScrollPosition)
  /// `host.thread`: opens the thread that a message began or answers in; `nil` closes the open one.
  case openThread(messageID: Text?)
  /// `host.notice`: what the host does with a notice.
  case handleNotice(number: Int, NoticeHandling)
  /// `chat.waves`: what an analysis of the running chat found.
  case findings(ChatFindings)

  /// How many names can be marked at most, since each message is compared with each of them.
  public static let maximumHighlightedNames = 32
}

/// A message of the chat.
///
/// Holds one reference to its slab and the slices of its texts, so that moving it costs one
/// reference count, not five.
public struct ChatMessage: Sendable {
  @usableFromInline let slab: ByteSlab
  @usableFromInline let slices: Slices
  /// The colour of the name in the low 24 bits, and which of ``Mark`` there are.
  @usableFromInline let marks: UInt32
  /// The length of ``channel``, which follows ``replyTo`` in the slab. Few messages have one, and two
  /// bytes fit where a slice would make every message larger.
  @usableFromInline let channelLength: UInt16

  @usableFromInline
  enum Mark {
    @usableFromInline static var color: UInt32 { 1 << 24 }
    /// Cheered bits follow ``channel`` in the slab, least significant byte first.
    @usableFromInline static var bits: UInt32 { 1 << 25 }
    @usableFromInline static var action: UInt32 { 1 << 26 }
    /// Behind these, how many emotes there are, in a byte, and for each where it begins and ends, in two bytes each.
    @usableFromInline static var emotes: UInt32 { 1 << 27 }
    /// Last, the length of ``kind`` in a byte, and its text.
    @usableFromInline static var kind: UInt32 { 1 << 28 }
  }

  /// Where the texts of a message are in its slab.
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

  /// A message without bits, channel, emotes and kind; ``owned(channel:bits:emotes:kind:)`` adds them.
  @inlinable
  public init(slab: ByteSlab, slices: Slices, color: NameColor? = nil, isAction: Bool = false) {
    self.init(
      slab: slab, slices: slices, color: color, isAction: isAction, channelLength: 0, tail: 0)
  }

  /// - Parameter tail: the marks of what follows ``channel`` in the slab.
  @usableFromInline
  init(
    slab: ByteSlab, slices: Slices, color: NameColor?, isAction: Bool, channelLength: Int,
    tail: UInt32
  ) {
    self.slab = slab
    self.slices = slices
    marks =
      (color.map { $0.rgb | Mark.color } ?? 0) | (isAction ? Mark.action : 0) | tail
    self.channelLength = UInt16(clamping: channelLength)
  }

  /// A message that owns its texts; for tests, generators and requests.
  public init(
    id: String, userID: String, userName: String, badges: String = "", color: NameColor? = nil,
    text: String, replyTo: String = "", bits: UInt32 = 0, channel: String = "",
    isAction: Bool = false, emotes: [Range<Int>] = [], kind: String = ""
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
    let channel = append(channel)
    let tail = Tail(
      bits: bits, emotes: EmoteRanges.usable(emotes, in: Text(text)), kind: Text(kind))
    self.init(
      slab: ByteSlab(bytes + tail.bytes), slices: slices, color: color, isAction: isAction,
      channelLength: channel.count, tail: tail.marks)
  }

  /// Calls `body` with the UTF-8 of ``userID`` of the message at `place`, without a reference to its slab: to copy the
  /// message, if only to look at it, would count one.
  @inlinable @inline(__always)
  package static func withUserID(
    at place: UnsafePointer<ChatMessage>, _ body: (UnsafeBufferPointer<UInt8>) -> UInt128
  ) -> UInt128 {
    let slice = place.pointer(to: \.slices.userID).unsafelyUnwrapped.pointee
    guard slice.escape == .none else { return place.pointee.userID.withUTF8(body) }
    let reference = UnsafeRawPointer(place.pointer(to: \.slab).unsafelyUnwrapped)
    let slab = reference.load(as: Unmanaged<ByteSlab>.self)
    return slab._withUnsafeGuaranteedRef { $0.withBytes(of: slice, body) }
  }

  /// Whether both are the same message at the same place in memory, which needs no look at the texts. Equal messages
  /// need not be.
  package func isIdentical(to other: ChatMessage) -> Bool {
    slab === other.slab && slices.id.offset == other.slices.id.offset
      && slices.text.offset == other.slices.text.offset && marks == other.marks
  }

  /// The length of all texts, in bytes, and of what is kept behind them.
  package var byteCount: Int {
    textLength + (marks & Mark.bits == 0 ? 0 : 4) + emoteLength + (hasKind ? 1 + kind.byteCount : 0)
  }

  private var textLength: Int {
    slices.id.count + slices.userID.count + slices.userName.count + slices.badges.count
      + slices.text.count + slices.replyTo.count + Int(channelLength)
  }

  var hasEmotes: Bool { marks & Mark.emotes != 0 }
  var emoteOffset: Int {
    Int(channelSlice.offset) + channelSlice.count + (marks & Mark.bits == 0 ? 0 : 4)
  }
  /// How many ranges ``emotes`` has. O(1).
  package var emoteCount: Int {
    hasEmotes ? slab.withBytes(of: ByteSlab.Slice(offset: emoteOffset, count: 1)) { Int($0[0]) } : 0
  }
  private var emoteLength: Int { hasEmotes ? 1 + 4 * emoteCount : 0 }

  fileprivate var hasKind: Bool { marks & Mark.kind != 0 }

  /// What few messages have, as it follows ``channel`` in the slab.
  private struct Tail {
    var marks: UInt32 = 0
    var bytes: [UInt8] = []

    init(bits: UInt32, emotes: [Range<Int>], kind: Text) {
      if bits > 0 {
        marks |= Mark.bits
        withUnsafeBytes(of: bits.littleEndian) { bytes.append(contentsOf: $0) }
      }
      if !emotes.isEmpty {
        marks |= Mark.emotes
        bytes.append(UInt8(emotes.count))
        for position in emotes.flatMap({ [$0.lowerBound, $0.upperBound] }) {
          bytes.append(UInt8(truncatingIfNeeded: position))
          bytes.append(UInt8(truncatingIfNeeded: position >> 8))
        }
      }
      if !kind.isEmpty {
        marks |= Mark.kind
        kind.cut(to: ChatMessage.kindLength).withUTF8 {
          bytes.append(UInt8($0.count))
          bytes.append(contentsOf: $0)
        }
      }
    }
  }

  /// The longest ``kind``, in bytes of UTF-8; a longer one is cut.
  package static let kindLength = 64

  /// Cheered bits; 0 for an ordinary message.
  public var bits: UInt32 {
    guard marks & Mark.bits != 0 else { return 0 }
    let offset = Int(channelSlice.offset) + channelSlice.count
    return slab.withBytes(of: ByteSlab.Slice(offset: offset, count: 4)) { bytes in
      UInt32(
        littleEndian: UnsafeRawBufferPointer(bytes).loadUnaligned(as: UInt32.self))
    }
  }

  /// What it was written with, such as a resubscription, by the platform's name for that; empty for an ordinary message.
  public var kind: Text {
    guard hasKind else { return Text(slab: slab, slice: .empty) }
    let offset = emoteOffset + emoteLength
    let count = slab.withBytes(of: ByteSlab.Slice(offset: offset, count: 1)) { Int($0[0]) }
    return Text(slab: slab, slice: ByteSlab.Slice(offset: offset + 1, count: count))
  }

  /// Whether the text says what the author does, as after `/me`: "Ann waves".
  @inlinable public var isAction: Bool { marks & Mark.action != 0 }

  /// The colour that the author has chosen; `nil` if that is not known.
  @inlinable public var color: NameColor? {
    marks & Mark.color == 0 ? nil : NameColor(rgb: marks)
  }

  /// Unique within its room; used by `chat.delete`.
  @inlinable public var id: Text { Text(slab: slab, slice: slices.id) }
  @inlinable public var userID: Text { Text(slab: slab, slice: slices.userID) }
  @inlinable public var userName: Text { Text(slab: slab, slice: slices.userName) }
  /// Comma-separated, as in `subscriber/5,premium/1`; empty if there are none.
  @inlinable public var badges: Text { Text(slab: slab, slice: slices.badges) }
  @inlinable public var text: Text { Text(slab: slab, slice: slices.text) }
  /// The message that this one answers; empty if it answers no message.
  @inlinable public var replyTo: Text { Text(slab: slab, slice: slices.replyTo) }
  /// The channel in which it was written, in a chat that several channels share; empty if that is the
  /// room's own.
  @inlinable public var channel: Text { Text(slab: slab, slice: channelSlice) }

  @usableFromInline var channelSlice: ByteSlab.Slice {
    ByteSlab.Slice(
      offset: Int(slices.replyTo.offset) + slices.replyTo.count, count: Int(channelLength))
  }

  /// The same message in a slab of its own, with all escapes resolved.
  ///
  /// Copies nothing if its slab has nothing but its own already.
  ///
  /// - Parameters:
  ///   - channel: replaces its ``channel``.
  ///   - bits: replaces its ``bits``.
  ///   - emotes: replaces its ``emotes`` by what is usable of these.
  ///   - kind: replaces its ``kind``.
  public func owned(
    channel: Text? = nil, bits: UInt32? = nil, emotes: [Range<Int>]? = nil, kind: Text? = nil
  ) -> ChatMessage {
    if channel == nil, bits == nil, emotes == nil, kind == nil, slab.count <= byteCount,
      !slices.hasEscapes
    {
      return self
    }
    let tail = Tail(
      bits: bits ?? self.bits,
      emotes: emotes.map { EmoteRanges.usable($0, in: text) } ?? self.emotes,
      kind: kind ?? self.kind)
    let channel = channel ?? self.channel
    var slices = self.slices
    var channelLength = 0
    // An escape is never shorter than what it stands for.
    let capacity =
      textLength - Int(self.channelLength) + channel.byteCount + tail.bytes.count
    let slab = ByteSlab(capacity: capacity) { target in
      var offset = 0
      func append(_ text: Text) -> ByteSlab.Slice {
        text.withUTF8 { utf8 in
          _ = UnsafeMutableBufferPointer(rebasing: target[offset...])
            .initialize(fromContentsOf: utf8)
          offset += utf8.count
          return ByteSlab.Slice(offset: offset - utf8.count, count: utf8.count)
        }
      }
      slices = Slices(
        id: append(id), userID: append(userID), userName: append(userName), badges: append(badges),
        text: append(text), replyTo: append(replyTo))
      channelLength = append(channel).count
      _ = UnsafeMutableBufferPointer(rebasing: target[offset...])
        .initialize(fromContentsOf: tail.bytes)
      return offset + tail.bytes.count
    }
    return ChatMessage(
      slab: slab, slices: slices, color: color, isAction: isAction, channelLength: channelLength,
      tail: tail.marks)
  }
}

extension ChatMessage.Slices {
  /// Whether one of the texts is not as it reads.
  fileprivate var hasEscapes: Bool {
    (id.bits | userID.bits | userName.bits | badges.bits | text.bits | replyTo.bits) >> 30 != 0
  }
}

extension ChatMessage: Hashable {
  public static func == (lhs: ChatMessage, rhs: ChatMessage) -> Bool {
    lhs.id == rhs.id && lhs.userID == rhs.userID && lhs.userName == rhs.userName
      && lhs.badges == rhs.badges && lhs.text == rhs.text && lhs.replyTo == rhs.replyTo
      && lhs.bits == rhs.bits && lhs.channel == rhs.channel && lhs.color == rhs.color
      && lhs.isAction == rhs.isAction && lhs.hasEmotes == rhs.hasEmotes
      && (!lhs.hasEmotes || lhs.emotes == rhs.emotes) && lhs.hasKind == rhs.hasKind
      && (!lhs.hasKind || lhs.kind == rhs.kind)
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// A person was silenced; what they wrote is taken off the screen.
public struct ChatTimeout: Sendable, Hashable {
  /// Without an identifier it is anybody of that name, since some loggers leave identifiers out.
  public var user: Person
  /// Length in seconds; `nil` for a ban.
  public var seconds: Int?

  public init(user: Person, seconds: Int?) {
    self.user = user
    self.seconds = seconds
  }
}

/// Something worth a line of its own: a subscription, a gift, a raid.
public struct ChatNotice: Sendable, Hashable {
  public enum Kind: String, Sendable, CaseIterable, Codable {
    case subscribe, resubscribe, gift, giftBomb, raid, cheer
  }

  public var user: Person
  /// Gifts, months, viewers or bits, by kind.
  public var count: Int
  /// Joins a gift bomb and its gifts; `nil` for a notice of its own.
  public var group: Text?
  /// Unique within its room; `nil` if the source gives it none. What is shown does not keep it.
  public var id: Text?
  public var kind: Kind
  /// What the person wrote with it; it has the identifier of the notice, and the notice's kind as its own.
  public var message: ChatMessage?

  public init(
    kind: Kind, user: Person, count: Int, group: Text? = nil, id: Text? = nil,
    message: ChatMessage? = nil
  ) {
    self.kind = kind
    self.user = user
    self.count = count
    self.group = group
    self.id = id
    self.message = message
  }
}

/// As it is kept of what is shown.
extension ChatNotice: Codable {
  private enum CodingKeys: CodingKey { case user, count, group, id, kind, message }
}

/// Which modes of the chat changed; `nil` where one did not. Shown, never enforced.
public struct ChatModes: Sendable, Hashable, Codable {
  /// Seconds between messages of one person; 0 is off.
  public var slowSeconds: Int?
  public var emoteOnly: Bool?
  /// Minutes that a person must have followed the channel; -1 is off.
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

/// Which messages the host wants to see: those that meet every condition that is set. With nothing
/// set, all of them.
public struct MessageFilter: Sendable, Hashable {
  /// The identifier of their author.
  public var person: Text?
  /// Words that occur in them; upper and lower case are not told apart.
  public var words: Text?
  public var mentionsOnly: Bool
  /// The platform on which they were written.
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

/// Where in the chat the host reads.
public enum ScrollPosition: String, Sendable, CaseIterable, Codable {
  /// At older messages; new ones are unread.
  case back
  /// At the newest.
  case end
}

/// What the host does with a notice.
public enum NoticeHandling: String, Sendable, CaseIterable, Codable { case pin, unpin, dismiss }
