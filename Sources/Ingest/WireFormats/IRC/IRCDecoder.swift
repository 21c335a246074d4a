import CSimdjson
import LiveEvents

enum TwitchIRCFormat {
  /// Returns whether a line begins with tags, a prefix, or a known command.
  static func recognises(_ bytes: UnsafePointer<UInt8>, count: Int) -> Bool {
    bytes[0] == UInt8(ascii: "@") || bytes[0] == UInt8(ascii: ":")
      || IRCCommand(verbAt: bytes, count: count) != nil
  }
}

/// Decodes lines of Twitch's chat protocol. Twitch's "IRC concepts" documents the tags.
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
      let payload = try line.payload(of: command)
      return .event(
        LiveEvent(timestamp: line.timestamp() ?? arrival, payload: payload, origin: origin),
        room: target)
    } catch {
      return .rejected(error, room: room)
    }
  }

  /// Returns the room of the channel that a line addresses, or `nil` if it addresses no channel.
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
  /// Returns the time at which Twitch sent the line, or else the time at which a message-keeping
  /// service received it.
  @inline(__always)
  fileprivate func timestamp() -> Timestamp? {
    let sent = integer(.sentTimestamp, in: Self.times)
    return (sent ?? integer(.receivedTimestamp, in: Self.times)).map { Timestamp($0) }
  }

  /// The valid timestamps in milliseconds since 1970: the years 2001 to 2100. Other values are from
  /// an unset clock, such as 0, or use another unit.
  private static var times: ClosedRange<Int> { 1_000_000_000_000...4_102_444_800_000 }

  @inline(__always)
  fileprivate func payload(
    of command: IRCCommand
  ) throws(RejectionReason) -> LiveEvent.Payload {
    // The most frequent command comes first, as with native events.
    if command == .privateMessage, let last, !has(.wasDeleted), !has(.paidAmount) {
      return .chat(.message(try message(last)))
    }
    return try rarerPayload(of: command)
  }

  private func rarerPayload(
    of command: IRCCommand
  ) throws(RejectionReason) -> LiveEvent.Payload {
    switch command {
    case .privateMessage: try privateMessage()
    case .userNotice: try userNotice()
    case .clearChat: .chat(clear())
    case .clearMessage: .chat(.delete(messageID: text(try required(.targetMessageID))))
    case .roomState: .chat(.modes(try modes()))
    case .protocolOnly: throw .protocolLine
    }
  }

  /// Returns the payload of a message that was deleted while a message-keeping service held it, or
  /// of a paid message.
  private func privateMessage() throws(RejectionReason) -> LiveEvent.Payload {
    guard let last else { throw .malformedIRC }
    if integer(.wasDeleted, in: 0...1) == 1 {
      return .chat(.delete(messageID: text(try required(.id))))
    }
    guard has(.paidAmount) else { return .chat(.message(try message(last))) }
    let money = money(.paidAmount, .paidPlaces, .paidCurrency)
    let kind = ["Hype Chat", money].compactMap(\.self).joined(separator: " ")
    return .chat(.message(try message(last, kind: Text(kind))))
  }

  /// Returns an amount of money as text, or `nil` if the line has no amount or its scale is
  /// unknown.
  private func money(_ amount: IRCTag, _ places: IRCTag, _ currency: IRCTag) -> String? {
    guard let units = integer(amount, in: EventLimits.count),
      let places = integer(places, in: 0...Money.maximumPlaces)
    else { return nil }
    let code = text(optionalName(currency))
    return Money(units: units, places: places, currency: code.isEmpty ? nil : String(code)).text
  }

  /// - Parameter words: The location of the message text in the line.
  @inline(__always)
  private func message(
    _ words: ByteSpan, kind: Text? = nil
  ) throws(RejectionReason) -> ChatMessage {
    let text = withoutAction(words)
    let slices = ChatMessage.Slices(
      id: optionalName(.id), userID: try userID(), userName: userName(),
      badges: optionalName(.badges), text: slice(text), replyTo: optionalName(.replyParent))
    let message = ChatMessage(
      slab: slab, slices: slices, color: color, isAction: text.start != words.start)
    let bits = integer(.bits, in: EventLimits.count) ?? 0
    let emotes = has(.emotes) && !tags[IRCTag.emotes.rawValue].isEmpty ? self.emotes : []
    if slices.id.isEmpty { return identified(message, bits, emotes, kind) }
    if bits == 0, emotes.isEmpty, kind == nil, !has(.sourceRoomID) { return message }
    let channel = sharedChannel()
    if bits == 0, emotes.isEmpty, kind == nil, channel == nil { return message }
    let owned = message.owned(
      channel: channel, bits: bits == 0 ? nil : UInt32(bits),
      emotes: emotes.isEmpty ? nil : emotes, kind: kind)
    countUnusable(emotes, usable: owned.emoteCount)
    return owned
  }

  /// Returns a message with a generated identifier, for logs without identifiers. The identifier
  /// derives from the line's content and number. Reading a log twice therefore counts each message
  /// once, while repeated texts are counted each time.
  private func identified(
    _ message: ChatMessage, _ bits: Int, _ emotes: [Range<Int>], _ kind: Text?
  ) -> ChatMessage {
    // This hash is FNV-1a, whose weak mixing is sufficient here.
    let end = (last ?? target).end
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for index in 0..<end { hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01B3 }
    let identified = ChatMessage(
      id: "irc-\(number)-\(String(hash, radix: 16))", userID: String(message.userID),
      userName: String(message.userName), badges: String(message.badges), color: message.color,
      text: String(message.text), replyTo: String(message.replyTo), bits: UInt32(bits),
      channel: sharedChannel().map { String($0) } ?? "", isAction: message.isAction,
      emotes: emotes, kind: kind.map { String($0) } ?? "")
    countUnusable(emotes, usable: identified.emoteCount)
    return identified
  }

  /// The person's identifier, or the login name in logs that omit the identifier.
  @inline(__always)
  private func userID() throws(RejectionReason) -> ByteSlab.Slice {
    let id = optionalName(.userID)
    if !id.isEmpty { return id }
    let login = optionalName(.login)
    let name = login.isEmpty ? try self.name(slice(nick)) : login
    guard !name.isEmpty else { throw .malformedIRC }
    return name
  }

  /// Counts emotes that lie beyond the end of the text or overlap others.
  private func countUnusable(_ emotes: [Range<Int>], usable: Int) {
    if usable < emotes.count { countUnusable(.emotes) }
  }

  /// The ranges of emotes in the text, from a value such as `25:0-4,12-16/1902:6-10` with first and
  /// last positions. A malformed value yields no emotes and is counted.
  private var emotes: [Range<Int>] {
    let span = tags[IRCTag.emotes.rawValue]
    var ranges: [Range<Int>] = []
    var (start, number, isPosition, isOdd): (Int?, Int?, Bool, Bool) = (nil, nil, false, false)
    // The end of the value is treated as a separator, which completes the last range.
    loop: for index in span.start...span.end {
      let byte = index < span.end ? bytes[index] : UInt8(ascii: "/")
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9") where isPosition:
        number = min((number ?? 0) * 10 + Int(byte - UInt8(ascii: "0")), 1 << 20)
      case UInt8(ascii: ":"): (start, number, isPosition) = (nil, nil, true)
      case UInt8(ascii: "-") where isPosition: (start, number) = (number, nil)
      case UInt8(ascii: ","), UInt8(ascii: "/"):
        if let start, let number, start <= number {
          ranges.append(start..<(number + 1))
        } else {
          isOdd = true
        }
        if ranges.count == EmoteRanges.limit {
          // Ranges beyond the maximum number of emotes are dropped.
          isOdd = isOdd || index < span.end
          break loop
        }
        (start, number) = (nil, nil)
        if byte == UInt8(ascii: "/") { isPosition = false }
      default:
        guard isPosition else { continue }
        (ranges, isOdd) = ([], true)
        break loop
      }
    }
    if isOdd { countUnusable(.emotes) }
    return ranges
  }

  /// The colour that the person has chosen, if any. An invalid colour is ignored and counted.
  @inline(__always)
  private var color: NameColor? {
    guard has(.color) else { return nil }
    let span = tags[IRCTag.color.rawValue]
    guard !span.isEmpty else { return nil }
    return NameColor(UnsafeBufferPointer(start: bytes + span.start, count: span.count))
      ?? ignore(.color)
  }

  /// Returns the channel in which a message of a shared chat was written, or `nil` if it is this
  /// channel.
  private func sharedChannel() -> Text? {
    let source = text(optionalName(.sourceRoomID))
    return source.isEmpty || source == text(slice(.roomID)) ? nil : source
  }

  /// The name to show: the display name, otherwise the login name, otherwise the identifier.
  @inline(__always)
  private func userName() -> ByteSlab.Slice {
    let name = optionalName(.displayName)
    if !name.isEmpty { return name }
    let login = optionalName(.login)
    if !login.isEmpty { return login }
    // Some logs omit all names.
    return !nick.isEmpty && slice(nick).isName(in: slab) ? slice(nick) : optionalName(.userID)
  }

  /// Returns the text of a message written with `/me`, without its wrapper `\u{1}ACTION text\u{1}`.
  @inline(__always)
  private func withoutAction(_ text: ByteSpan) -> ByteSpan {
    guard text.count >= 9, bytes[text.start] == 1, bytes[text.end - 1] == 1 else { return text }
    let opening: StaticString = "\u{1}ACTION "
    let matches = (0..<8).allSatisfy { bytes[text.start + $0] == opening.utf8Start[$0] }
    return matches ? ByteSpan(start: text.start + 8, end: text.end - 1) : text
  }

  private func clear() -> ChatEvent {
    guard let last, !last.isEmpty, slice(last).isName(in: slab) else { return .clear }
    let user = Person(id: text(optionalName(.targetUserID)), name: text(slice(last)))
    return .timeout(
      ChatTimeout(user: user, seconds: integer(.banDuration, in: EventLimits.count)))
  }

  private func modes() throws(RejectionReason) -> ChatModes {
    func flag(_ tag: IRCTag) -> Bool? { integer(tag, in: 0...1).map { $0 == 1 } }
    let modes = ChatModes(
      slowSeconds: integer(.slow, in: EventLimits.count), emoteOnly: flag(.emoteOnly),
      followersOnlyMinutes: integer(
        .followersOnly, in: -1...EventLimits.count.upperBound),
      subscribersOnly: flag(.subscribersOnly), uniqueOnly: flag(.uniqueOnly))
    guard modes != ChatModes() else { throw .malformedIRC }
    return modes
  }

  // MARK: USERNOTICE

  /// Returns the payload of a USERNOTICE line.
  ///
  /// Subscriptions, gifts and raids become notices that include the person's text. Channel
  /// announcements and Twitch's own statements about a person become announcements. For other
  /// kinds, the person's text becomes a message that names the kind.
  private func userNotice() throws(RejectionReason) -> LiveEvent.Payload {
    let type = text(try required(.messageID))
    let words = last.flatMap { $0.isEmpty ? nil : $0 }
    switch String(type) {
    case "sub", "giftpaidupgrade", "anongiftpaidupgrade", "primepaidupgrade":
      return try notice(.subscribe, integer(.cumulativeMonths, in: EventLimits.count) ?? 1, words)
    case "resub":
      return try notice(
        .resubscribe, integer(.cumulativeMonths, in: EventLimits.count) ?? 1, words)
    case "subgift", "anonsubgift":
      // A single gift carries the number of gifts that its giver has made so far. A gift of a gift
      // bomb carries 0.
      let isAlone = integer(.senderCount, in: EventLimits.count) ?? 0 > 0
      return try notice(.gift, 1, words, group: isAlone ? nil : group())
    case "submysterygift", "anonsubmysterygift":
      return try notice(
        .giftBomb, integer(.massGiftCount, in: EventLimits.count) ?? 1, words, group: group())
    case "raid": return try notice(.raid, integer(.viewerCount, in: EventLimits.count) ?? 0, words)
    case "announcement", "bitsbadgetier", "charitydonation", "standardpayforward",
      "communitypayforward":
      // The amount of a donation must be shown even if the donor wrote a text.
      let hasAmount = type == Text("charitydonation")
      if hasAmount, let sentence = systemMessage.map({ text($0) }) ?? donation {
        return .activity(.announcement(try announcement(sentence, followedBy: words)))
      }
      guard let announced = words.map({ slice($0) }) ?? systemMessage else { break }
      return .activity(.announcement(try announcement(text(announced), hasEmotes: words != nil)))
    case "sharedchatnotice":
      let kind = text(optionalName(.sourceMessageID))
      if let words { return .chat(.message(try message(words, kind: kind.isEmpty ? type : kind))) }
    default:
      if let words { return .chat(.message(try message(words, kind: type))) }
    }
    remarks.pointee.append(.kind(String(type.cut(to: ChatMessage.kindLength))))
    throw .unknownType
  }

  private func notice(
    _ kind: ChatNotice.Kind, _ count: Int, _ words: ByteSpan?, group: Text? = nil
  ) throws(RejectionReason) -> LiveEvent.Payload {
    var message: ChatMessage?
    if let words { message = try self.message(words, kind: Text(kind.rawValue)) }
    return .chat(
      .notice(
        ChatNotice(
          kind: kind, user: try person(), count: count, group: group, id: identifier,
          message: message)))
  }

  /// - Parameter hasEmotes: Whether the line's emote positions refer to `words`.
  private func announcement(_ words: Text, hasEmotes: Bool) throws(RejectionReason) -> Announcement
  {
    let emotes =
      hasEmotes && has(.emotes) && !tags[IRCTag.emotes.rawValue].isEmpty ? self.emotes : []
    let usable = EmoteRanges.usable(emotes, in: words)
    countUnusable(emotes, usable: usable.count)
    return Announcement(user: try person(), text: words, emotes: usable, id: identifier)
  }

  /// Returns an announcement of Twitch's statement about the person, followed by the person's own
  /// text.
  private func announcement(
    _ sentence: Text, followedBy words: ByteSpan?
  ) throws(RejectionReason) -> Announcement {
    guard let words else { return try announcement(sentence, hasEmotes: false) }
    let written = try announcement(text(slice(words)), hasEmotes: true)
    let opening = String(sentence) + ": "
    let shift = opening.unicodeScalars.count
    let emotes = written.emotes.map { ($0.lowerBound + shift)..<($0.upperBound + shift) }
    return Announcement(
      user: written.user, text: Text(opening + String(written.text)), emotes: emotes, id: written.id
    )
  }

  /// A generated sentence about a charity donation, for lines without Twitch's statement.
  private var donation: Text? {
    guard let money = money(.donatedAmount, .donatedPlaces, .donatedCurrency) else { return nil }
    let charity = text(optionalName(.charity))
    return Text("donates \(money)" + (charity.isEmpty ? "" : " for " + String(charity)))
  }

  private func person() throws(RejectionReason) -> Person {
    Person(id: text(try userID()), name: text(userName()))
  }

  private var identifier: Text? {
    let id = optionalName(.id)
    return id.isEmpty ? nil : text(id)
  }

  /// Twitch's statement about the person.
  private var systemMessage: ByteSlab.Slice? {
    let message = slice(.systemMessage)
    return message.isEmpty ? nil : message
  }

  /// Returns the identifier that a gift bomb shares with its gifts.
  private func group() -> Text? {
    let community = optionalName(.communityGiftID)
    let group = community.isEmpty ? optionalName(.originID) : community
    return group.isEmpty ? nil : text(group)
  }
}
