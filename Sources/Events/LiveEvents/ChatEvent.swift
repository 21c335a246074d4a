/// Events of the chat, and host actions that concern the chat. Unless a comment names another
/// `type`, the native `type` of a case is `chat.` followed by the case's name.
public enum ChatEvent: Sendable, Hashable {
  case message(ChatMessage)
  case delete(messageID: Text)
  case clear
  case timeout(ChatTimeout)
  /// Boxed, because notices are rare and larger than messages.
  indirect case notice(ChatNotice)
  case modes(ChatModes)
  /// `host.filter`: the host's filter for messages.
  case filter(MessageFilter)
  /// `host.highlight`: at most ``maximumHighlightedNames`` names whose mentions are highlighted.
  case highlight(names: [Text])
  /// `host.scroll`: the host's reading position.
  case scroll(ScrollPosition)
  /// `host.thread`: opens the thread that contains a message; `nil` closes the open thread.
  case openThread(messageID: Text?)
  /// `host.person`: opens the card of a person; `nil` closes the open card. Boxed, because the
  /// event is rare and larger than others.
  indirect case openPerson(PersonReference?)
  /// `host.note`: the host's note about a person.
  indirect case notePerson(PersonNote)
  /// `host.notice`: the host pins, unpins, or dismisses a notice.
  case handleNotice(number: Int, NoticeHandling)
  /// `chat.waves`: highlights and bursts of duplicates that an analysis found in the running chat.
  case findings(ChatFindings)

  /// The maximum number of highlighted names, each of which is searched in every message.
  public static let maximumHighlightedNames = 32
}

/// A chat message. Holds a single reference, to the slab that contains all its texts, so that
/// moving a message costs one reference count instead of five.
public struct ChatMessage: Sendable {
  @usableFromInline let slab: ByteSlab
  @usableFromInline let slices: Slices
  /// The colour of the name in the low 24 bits, and the ``Mark`` flags.
  @usableFromInline let marks: UInt32
  /// The length of ``channel``, which follows ``replyTo`` in the slab. Stored in two bytes, because
  /// few messages have a channel, while a slice would enlarge every message.
  @usableFromInline let channelLength: UInt16

  @usableFromInline
  enum Mark {
    @usableFromInline static var color: UInt32 { 1 << 24 }
    /// The flag for cheered bits, which follow ``channel`` in the slab, least significant byte
    /// first.
    @usableFromInline static var bits: UInt32 { 1 << 25 }
    @usableFromInline static var action: UInt32 { 1 << 26 }
    /// The flag for emotes, which follow the bits: their number in one byte, and the start and end
    /// of each in two bytes.
    @usableFromInline static var emotes: UInt32 { 1 << 27 }
    /// The flag for ``kind``, which is last in the slab: its length in one byte, and its text.
    @usableFromInline static var kind: UInt32 { 1 << 28 }
  }

  /// The locations in the slab of a message's texts.
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

  /// Creates a message that has no bits, channel, emotes, or kind.
  /// ``owned(channel:bits:emotes:kind:)`` can add them.
  @inlinable
  public init(slab: ByteSlab, slices: Slices, color: NameColor? = nil, isAction: Bool = false) {
    self.init(
      slab: slab, slices: slices, color: color, isAction: isAction, channelLength: 0, tail: 0)
  }

  /// - Parameter tail: The flags of the data that follows ``channel`` in the slab.
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

  /// Creates a message that owns its texts, for tests, generators, and requests.
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

  /// Calls `body` with the UTF-8 of ``userID`` of the message at `place`. Unlike copying the
  /// message, this does not retain the message's slab.
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

  /// Returns whether both messages are at the same location in memory. Messages with equal texts
  /// may be at different locations.
  package func isIdentical(to other: ChatMessage) -> Bool {
    slab === other.slab && slices.id.offset == other.slices.id.offset
      && slices.text.offset == other.slices.text.offset && marks == other.marks
  }

  /// The length in bytes of all texts and additional data.
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
  /// The number of emotes. Takes O(1).
  package var emoteCount: Int {
    hasEmotes ? slab.withBytes(of: ByteSlab.Slice(offset: emoteOffset, count: 1)) { Int($0[0]) } : 0
  }
  private var emoteLength: Int { hasEmotes ? 1 + 4 * emoteCount : 0 }

  fileprivate var hasKind: Bool { marks & Mark.kind != 0 }

  /// The optional data that follows ``channel`` in the slab.
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

  /// The maximum length of ``kind`` in bytes of UTF-8. A longer kind is truncated.
  package static let kindLength = 64

  /// The number of cheered bits, 0 for an ordinary message.
  public var bits: UInt32 {
    guard marks & Mark.bits != 0 else { return 0 }
    let offset = Int(channelSlice.offset) + channelSlice.count
    return slab.withBytes(of: ByteSlab.Slice(offset: offset, count: 4)) { bytes in
      UInt32(
        littleEndian: UnsafeRawBufferPointer(bytes).loadUnaligned(as: UInt32.self))
    }
  }

  /// The platform's name for the kind of notice that the message belongs to, such as a
  /// resubscription. Empty for an ordinary message.
  public var kind: Text {
    guard hasKind else { return Text(slab: slab, slice: .empty) }
    let offset = emoteOffset + emoteLength
    let count = slab.withBytes(of: ByteSlab.Slice(offset: offset, count: 1)) { Int($0[0]) }
    return Text(slab: slab, slice: ByteSlab.Slice(offset: offset + 1, count: count))
  }

  /// Whether the text describes an action of the author, as after `/me`: "Ann waves".
  @inlinable public var isAction: Bool { marks & Mark.action != 0 }

  /// The colour chosen by the author, if known.
  @inlinable public var color: NameColor? {
    marks & Mark.color == 0 ? nil : NameColor(rgb: marks)
  }

  /// An identifier that is unique within its room, for `chat.delete`.
  @inlinable public var id: Text { Text(slab: slab, slice: slices.id) }
  @inlinable public var userID: Text { Text(slab: slab, slice: slices.userID) }
  @inlinable public var userName: Text { Text(slab: slab, slice: slices.userName) }
  /// The badges separated by commas, such as `subscriber/5,premium/1`.
  @inlinable public var badges: Text { Text(slab: slab, slice: slices.badges) }
  @inlinable public var text: Text { Text(slab: slab, slice: slices.text) }
  /// The identifier of the answered message, or empty if this is not a reply.
  @inlinable public var replyTo: Text { Text(slab: slab, slice: slices.replyTo) }
  /// The message's original channel in a chat shared by several channels. Empty for the room's own
  /// channel.
  @inlinable public var channel: Text { Text(slab: slab, slice: channelSlice) }

  @usableFromInline var channelSlice: ByteSlab.Slice {
    ByteSlab.Slice(
      offset: Int(slices.replyTo.offset) + slices.replyTo.count, count: Int(channelLength))
  }

  /// Returns a copy of the message in its own slab, without escapes. The given values replace those
  /// of the message. Of `emotes`, only the usable ranges are stored. Copies nothing if no value is
  /// given, the slab contains nothing else, and no text has escapes.
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
    // An escape is never shorter than the text that it represents.
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
  /// Whether any of the texts contains escapes.
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

/// A time-out or ban of a person, whose messages are removed from the screen.
public struct ChatTimeout: Sendable, Hashable {
  /// The person. If the person has no identifier, the event applies to anybody with this name,
  /// because some loggers omit identifiers.
  public var user: Person
  /// The length in seconds, or `nil` for a ban.
  public var seconds: Int?

  public init(user: Person, seconds: Int?) {
    self.user = user
    self.seconds = seconds
  }
}

/// A notice on its own line in the chat, such as a subscription, a gift, or a raid.
public struct ChatNotice: Sendable, Hashable {
  public enum Kind: String, Sendable, CaseIterable, Codable {
    case subscribe, resubscribe, gift, giftBomb, raid, cheer
  }

  public var user: Person
  /// The number of gifts, months, viewers, or bits, depending on the kind.
  public var count: Int
  /// The group that a gift bomb shares with its gifts. `nil` for a separate notice.
  public var group: Text?
  /// An identifier that is unique within its room, if the source provides one. Displayed notices do
  /// not keep identifiers.
  public var id: Text?
  public var kind: Kind
  /// The message that the person wrote with the notice. The message's identifier is the notice's
  /// identifier, and its kind is the platform's name for the notice.
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

/// The form in which displayed notices are saved.
extension ChatNotice: Codable {
  private enum CodingKeys: CodingKey { case user, count, group, id, kind, message }
}

/// Changes of the chat's modes, `nil` for unchanged modes. The screen shows modes; nothing here
/// enforces them.
public struct ChatModes: Sendable, Hashable, Codable {
  /// The minimum time in seconds between messages from one person, 0 if off.
  public var slowSeconds: Int?
  public var emoteOnly: Bool?
  /// How many minutes a person must have followed the channel in order to write, -1 if off.
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
