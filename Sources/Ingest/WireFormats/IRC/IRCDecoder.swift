import CSimdjson
import LiveEvents

enum TwitchIRCFormat {
  /// Tags, a prefix, or a command.
  static func recognises(_ bytes: UnsafePointer<UInt8>, count: Int) -> Bool {
    bytes[0] == UInt8(ascii: "@") || bytes[0] == UInt8(ascii: ":")
      || IRCCommand(verbAt: bytes, count: count) != nil
  }
}

/// Lines of Twitch's chat protocol. Which tag means what: Twitch's documentation, "IRC concepts".
extension LineDecoder {
  mutating func decodeIRC(
    _ slab: ByteSlab, _ bytes: UnsafePointer<UInt8>, count: Int, offset: Int, arrival: Timestamp
  ) -> DecodedLine {
    guard livehost_is_utf8(bytes, count) else { return .rejected(.invalidUTF8, room: override) }
    guard let line = IRCLine(slab, bytes, count: count, offset: offset, tags: &tags),
      let command = IRCCommand(bytes + line.command.start, count: line.command.count)
    else { return .rejected(.malformedIRC, room: override) }
    var room = override
    do throws(RejectionReason) {
      let target = try self.room(of: line, command)
      room = target
      guard let target else {
        throw command == .protocolOnly ? .protocolLine : .malformedIRC
      }
      let payload = LiveEvent.Payload.chat(try line.event(of: command))
      return .event(
        LiveEvent(timestamp: try line.timestamp() ?? arrival, payload: payload, origin: origin),
        room: target)
    } catch {
      return .rejected(error, room: room)
    }
  }

  /// The room of the channel addressed by a line; `nil` if it does not address a channel.
  @inline(__always)
  private mutating func room(of line: IRCLine, _ command: IRCCommand) throws(RejectionReason)
    -> RoomReference?
  {
    if let override { return override }
    let target = line.target
    guard !target.isEmpty, line.bytes[target.start] == UInt8(ascii: "#") else { return nil }
    guard
      let index = rooms.channel(
        UnsafeBufferPointer(start: line.bytes + (target.start + 1), count: target.count - 1))
    else { throw .invalidRoom }
    return RoomReference(index: index)
  }
}

extension IRCLine {
  /// When the line was sent, else when a service that keeps messages received it.
  @inline(__always)
  fileprivate func timestamp() throws(RejectionReason) -> Timestamp? {
    let tag: IRCTag = has(.sentTimestamp) ? .sentTimestamp : .receivedTimestamp
    return try integer(tag, in: NativeMembers.timestamps).map { Timestamp($0) }
  }

  @inline(__always)
  fileprivate func event(of command: IRCCommand) throws(RejectionReason) -> ChatEvent {
    // By far the most frequent command comes first, as with native events.
    if command == .privateMessage { return .message(try message()) }
    return try rarerEvent(of: command)
  }

  private func rarerEvent(of command: IRCCommand) throws(RejectionReason) -> ChatEvent {
    switch command {
    case .privateMessage: .message(try message())
    case .userNotice: .notice(try identifiedNotice())
    case .clearChat: try clear()
    case .clearMessage: .delete(messageID: text(try required(.targetMessageID)))
    case .roomState: .modes(try modes())
    case .protocolOnly: throw .protocolLine
    }
  }

  @inline(__always)
  private func message() throws(RejectionReason) -> ChatMessage {
    guard let last else { throw .malformedIRC }
    let text = withoutAction(last)
    let slices = ChatMessage.Slices(
      id: try required(.id), userID: try required(.userID), userName: try userName(),
      badges: slice(.badges), text: slice(text), replyTo: slice(.replyParent))
    let message = ChatMessage(
      slab: slab, slices: slices, color: color, isAction: text.start != last.start)
    let bits = try integer(.bits, in: EventLimits.count) ?? 0
    let emotes = has(.emotes) && !tags[IRCTag.emotes.rawValue].isEmpty ? self.emotes : []
    if bits == 0, emotes.isEmpty, !has(.sourceRoomID) { return message }
    let channel = try sharedChannel()
    if bits == 0, emotes.isEmpty, channel == nil { return message }
    return message.owned(
      channel: channel, bits: bits == 0 ? nil : UInt32(bits), emotes: emotes.isEmpty ? nil : emotes)
  }

  /// Where the text has emotes, as in `25:0-4,12-16/1902:6-10`: per emote where it begins and where its last character
  /// is. What cannot be read counts as none: it harms nobody.
  private var emotes: [Range<Int>] {
    let span = tags[IRCTag.emotes.rawValue]
    var ranges: [Range<Int>] = []
    var (start, number, isPosition): (Int?, Int?, Bool) = (nil, nil, false)
    // A separator behind the last one ends it like the others.
    for index in span.start...span.end {
      let byte = index < span.end ? bytes[index] : UInt8(ascii: "/")
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9") where isPosition:
        number = min((number ?? 0) * 10 + Int(byte - UInt8(ascii: "0")), 1 << 20)
      case UInt8(ascii: ":"): (start, number, isPosition) = (nil, nil, true)
      case UInt8(ascii: "-") where isPosition: (start, number) = (number, nil)
      case UInt8(ascii: ","), UInt8(ascii: "/"):
        if let start, let number, start <= number { ranges.append(start..<(number + 1)) }
        if ranges.count == EmoteRanges.limit { return ranges }
        (start, number) = (nil, nil)
        if byte == UInt8(ascii: "/") { isPosition = false }
      default: if isPosition { return [] }
      }
    }
    return ranges
  }

  /// Empty if the person has not chosen one. What is no colour counts as none: it harms nobody.
  @inline(__always)
  private var color: NameColor? {
    guard has(.color) else { return nil }
    let span = tags[IRCTag.color.rawValue]
    return NameColor(UnsafeBufferPointer(start: bytes + span.start, count: span.count))
  }

  /// The channel of a message of a chat that several channels share, if that is another one.
  private func sharedChannel() throws(RejectionReason) -> Text? {
    let source = text(try name(slice(.sourceRoomID)))
    return source.isEmpty || source == text(slice(.roomID)) ? nil : source
  }

  /// The name to show; the login name if the person has not set one.
  @inline(__always)
  private func userName() throws(RejectionReason) -> ByteSlab.Slice {
    var name = slice(.displayName)
    if name.isEmpty { name = slice(.login) }
    if name.isEmpty { name = slice(nick) }
    return try self.name(name)
  }

  /// The text of a message written with `/me`, which comes as `\u{1}ACTION text\u{1}`.
  @inline(__always)
  private func withoutAction(_ text: ByteSpan) -> ByteSpan {
    guard text.count >= 9, bytes[text.start] == 1, bytes[text.end - 1] == 1 else { return text }
    let opening: StaticString = "\u{1}ACTION "
    let matches = (0..<8).allSatisfy { bytes[text.start + $0] == opening.utf8Start[$0] }
    return matches ? ByteSpan(start: text.start + 8, end: text.end - 1) : text
  }

  private func clear() throws(RejectionReason) -> ChatEvent {
    guard let name = last, !name.isEmpty else { return .clear }
    let user = Person(
      id: text(try required(.targetUserID)), name: text(try self.name(slice(name))))
    let seconds = try integer(.banDuration, in: EventLimits.count)
    return .timeout(ChatTimeout(user: user, seconds: seconds))
  }

  private func modes() throws(RejectionReason) -> ChatModes {
    func flag(_ tag: IRCTag) throws(RejectionReason) -> Bool? {
      try integer(tag, in: 0...1).map { $0 == 1 }
    }
    let modes = ChatModes(
      slowSeconds: try integer(.slow, in: EventLimits.count),
      emoteOnly: try flag(.emoteOnly),
      followersOnlyMinutes: try integer(
        .followersOnly, in: -1...EventLimits.count.upperBound),
      subscribersOnly: try flag(.subscribersOnly),
      uniqueOnly: try flag(.uniqueOnly))
    guard modes != ChatModes() else { throw .malformedIRC }
    return modes
  }

  private func identifiedNotice() throws(RejectionReason) -> ChatNotice {
    var notice = try notice()
    let id = try name(slice(.id))
    if !id.isEmpty { notice.id = text(id) }
    return notice
  }

  /// A notice. Text written together with it is part of the notice, not a message.
  private func notice() throws(RejectionReason) -> ChatNotice {
    let user = Person(id: text(try required(.userID)), name: text(try userName()))
    func count(_ tag: IRCTag, default count: Int) throws(RejectionReason) -> Int {
      try integer(tag, in: EventLimits.count) ?? count
    }
    switch String(text(try required(.messageID))) {
    case "sub", "giftpaidupgrade", "anongiftpaidupgrade", "primepaidupgrade":
      return ChatNotice(
        kind: .subscribe, user: user, count: try count(.cumulativeMonths, default: 1))
    case "resub":
      return ChatNotice(
        kind: .resubscribe, user: user, count: try count(.cumulativeMonths, default: 1))
    case "subgift", "anonsubgift":
      // A single gift has the number of gifts its giver has made so far; a gift of a bomb has 0.
      let isAlone = try count(.senderCount, default: 0) > 0
      return ChatNotice(kind: .gift, user: user, count: 1, group: isAlone ? nil : try group())
    case "submysterygift", "anonsubmysterygift":
      guard let gifts = try integer(.massGiftCount, in: EventLimits.count) else {
        throw .malformedIRC
      }
      return ChatNotice(kind: .giftBomb, user: user, count: gifts, group: try group())
    case "raid":
      guard let viewers = try integer(.viewerCount, in: EventLimits.count) else {
        throw .malformedIRC
      }
      return ChatNotice(kind: .raid, user: user, count: viewers)
    default: throw .unknownType
    }
  }

  /// The identifier that a gift bomb shares with its gifts.
  private func group() throws(RejectionReason) -> Text? {
    let community = slice(.communityGiftID)
    let group = community.isEmpty ? slice(.originID) : community
    return group.isEmpty ? nil : text(try name(group))
  }
}
