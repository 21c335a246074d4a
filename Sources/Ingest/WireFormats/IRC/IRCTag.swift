/// The message tags that are read. All others are skipped.
enum IRCTag: Int, CaseIterable {
  case id, userID, displayName, badges, sentTimestamp, receivedTimestamp, bits, replyParent
  case roomID, sourceRoomID, color, emotes
  case login, messageID, targetMessageID, targetUserID, banDuration
  case cumulativeMonths, originID, communityGiftID, massGiftCount, senderCount, viewerCount
  case emoteOnly, followersOnly, uniqueOnly, slow, subscribersOnly
  case systemMessage, sourceMessageID, wasDeleted
  case paidAmount, paidCurrency, paidPlaces, charity, donatedAmount, donatedCurrency, donatedPlaces

  /// The tag's name in Twitch's documentation, "Twitch IRC tags".
  ///
  /// Tags that begin with `rm-` come from the recent-messages service, which stores messages and
  /// returns them on request. The tags of paid messages (Hype Chat) are no longer documented.
  var name: String {
    switch self {
    case .id: "id"
    case .userID: "user-id"
    case .displayName: "display-name"
    case .badges: "badges"
    case .sentTimestamp: "tmi-sent-ts"
    case .receivedTimestamp: "rm-received-ts"
    case .bits: "bits"
    case .replyParent: "reply-parent-msg-id"
    case .roomID: "room-id"
    case .sourceRoomID: "source-room-id"
    case .color: "color"
    case .emotes: "emotes"
    case .login: "login"
    case .messageID: "msg-id"
    case .targetMessageID: "target-msg-id"
    case .targetUserID: "target-user-id"
    case .banDuration: "ban-duration"
    case .cumulativeMonths: "msg-param-cumulative-months"
    case .originID: "msg-param-origin-id"
    case .communityGiftID: "msg-param-community-gift-id"
    case .massGiftCount: "msg-param-mass-gift-count"
    case .senderCount: "msg-param-sender-count"
    case .viewerCount: "msg-param-viewerCount"
    case .emoteOnly: "emote-only"
    case .followersOnly: "followers-only"
    case .uniqueOnly: "r9k"
    case .slow: "slow"
    case .subscribersOnly: "subs-only"
    case .systemMessage: "system-msg"
    case .sourceMessageID: "source-msg-id"
    case .wasDeleted: "rm-deleted"
    case .paidAmount: "pinned-chat-paid-amount"
    case .paidCurrency: "pinned-chat-paid-currency"
    case .paidPlaces: "pinned-chat-paid-exponent"
    case .charity: "msg-param-charity-name"
    case .donatedAmount: "msg-param-donation-amount"
    case .donatedCurrency: "msg-param-donation-currency"
    case .donatedPlaces: "msg-param-exponent"
    }
  }

  /// The tag names. The value of a name is the tag's raw value.
  static let names = WordTable(allCases.map(\.name))

  var bit: UInt64 { 1 << UInt64(rawValue) }
}

/// A range of bytes within a line.
struct ByteSpan {
  var start = 0
  var end = 0

  @inline(__always) var count: Int { end - start }
  @inline(__always) var isEmpty: Bool { end == start }
}

/// Memory for the tags of one line, reused for all lines of a decoder.
struct IRCTagStorage: ~Copyable {
  let values: UnsafeMutablePointer<ByteSpan>
  let names = IRCTag.names
  let remarks: UnsafeMutablePointer<[DecodingRemark]>
  /// The number of tag blocks read so far.
  private(set) var lines = 0

  /// - Parameter remarks: Must outlive this storage.
  init(remarks: UnsafeMutablePointer<[DecodingRemark]>) {
    self.remarks = remarks
    values = .allocate(capacity: IRCTag.allCases.count)
    values.initialize(repeating: ByteSpan(), count: IRCTag.allCases.count)
  }

  deinit { values.deallocate() }

  /// Reads a tag block, which begins with the `@` at the start of the line.
  ///
  /// Returns the known tags that are present and the offset of the rest of the line, or `nil` if
  /// the block has no end. If a tag occurs several times, its last value counts. Takes O(length of
  /// the block).
  @inline(__always)
  mutating func read(
    _ bytes: UnsafePointer<UInt8>, count: Int
  ) -> (present: UInt64, rest: Int)? {
    var present: UInt64 = 0
    var position = 1
    lines &+= 1
    while true {
      let key = position
      position = ByteSearch.first(
        UInt8(ascii: "="), UInt8(ascii: ";"), 0x20, in: bytes, from: position, to: count)
      guard position < count else { return nil }
      let keyEnd = position
      var value = ByteSpan(start: position, end: position)
      if bytes[position] == UInt8(ascii: "=") {
        value.start = position + 1
        position = ByteSearch.first(
          UInt8(ascii: ";"), UInt8(ascii: ";"), 0x20, in: bytes, from: position + 1, to: count)
        guard position < count else { return nil }
        value.end = position
      }
      if let tag = names.value(of: bytes + key, count: keyEnd - key) {
        values[tag] = value
        present |= 1 << UInt64(tag)
      }
      if bytes[position] == 0x20 { return (present, position + 1) }
      position += 1
    }
  }
}
