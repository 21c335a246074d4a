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
      let payload = try line.payload(of: command)
      return .event(
        LiveEvent(timestamp: line.timestamp() ?? arrival, payload: payload, origin: origin),
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
  fileprivate func timestamp() -> Timestamp? {
    let sent = integer(.sentTimestamp, in: Self.times)
    return (sent ?? integer(.receivedTimestamp, in: Self.times)).map { Timestamp($0) }
  }

  /// The years 2001 to 2100, in milliseconds since 1970. A time outside is that of a clock that was not set, such as 0,
  /// or in another unit.
  private static var times: ClosedRange<Int> { 1_000_000_000_000...4_102_444_800_000 }

  @inline(__always)
  fileprivate func payload(
    of command: IRCCommand
  ) throws(RejectionReason) -> LiveEvent.Payload {
    // By far the most frequent command comes first, as with native events.
    if command == .privateMessage, let last, !has(.wasDeleted), !has(.paidAmount) {
      return .chat(.message(try message(last)))
    }
    return try rarerPayload(of: command)
  }

  private func rarerPayload(
    of command: IRCCommand
  ) throws(RejectionReason) -> LiveEvent.Payload {
    switch command {
    case .privateMessage: try keptOrPaid()
    case .userNotice: try userNotice()
    case .clearChat: .chat(clear())
    case .clearMessage: .chat(.delete(messageID: text(try required(.targetMessageID))))
    case .roomState: .chat(.modes(try modes()))
    case .protocolOnly: throw .protocolLine
    }
  }

  /// A message that a moderator deleted before the service that kept it handed it out, or one that was paid for.
  private func keptOrPaid() throws(RejectionReason) -> LiveEvent.Payload {
    guard let last else { throw .malformedIRC }
    if integer(.wasDeleted, in: 0...1) == 1 {
      return .chat(.delete(messageID: text(try required(.id))))
    }
    guard has(.paidAmount) else { return .chat(.message(try message(last))) }
    let money = money(.paidAmount, .paidPlaces, .paidCurrency)
    let kind = ["Hype Chat", money].compactMap(\.self).joined(separator: " ")
    return .chat(.message(try message(last, kind: Text(kind))))
  }

  /// An amount of money; `nil` if the line has none, or its scale is unknown.
  private func money(_ amount: IRCTag, _ places: IRCTag, _ currency: IRCTag) -> String? {
    guard let units = integer(amount, in: EventLimits.count),
      let places = integer(places, in: 0...Money.maximumPlaces)
    else { return nil }
    let code = text(optionalName(currency))
    return Money(units: units, places: places, currency: code.isEmpty ? nil : String(code)).text
  }

  /// - Parameter words: the text of the line.
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
    noteUnusable(emotes, kept: owned.emoteCount)
    return owned
  }

  /// A message of a log without identifiers. One is made from the line and its number, so that a log that is read twice
  /// counts once, and words that somebody repeats count each time.
  private func identified(
    _ message: ChatMessage, _ bits: Int, _ emotes: [Range<Int>], _ kind: Text?
  ) -> ChatMessage {
    // FNV-1a; nothing depends on how well it mixes.
    let end = (last ?? target).end
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for index in 0..<end { hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01B3 }
    let identified = ChatMessage(
      id: "irc-\(number)-\(String(hash, radix: 16))", userID: String(message.userID),
      userName: String(message.userName), badges: String(message.badges), color: message.color,
      text: String(message.text), replyTo: String(message.replyTo), bits: UInt32(bits),
      channel: sharedChannel().map { String($0) } ?? "", isAction: message.isAction,
      emotes: emotes, kind: kind.map { String($0) } ?? "")
    noteUnusable(emotes, kept: identified.emoteCount)
    return identified
  }

  /// The person's identifier; the login name in the logs of programs that leave it out.
  @inline(__always)
  private func userID() throws(RejectionReason) -> ByteSlab.Slice {
    let id = optionalName(.userID)
    if !id.isEmpty { return id }
    let login = optionalName(.login)
    let name = login.isEmpty ? try self.name(slice(nick)) : login
    guard !name.isEmpty else { throw .malformedIRC }
    return name
  }

  /// Counts emotes that are beyond the end of the text, or overlap others.
  private func noteUnusable(_ emotes: [Range<Int>], kept: Int) {
    if kept < emotes.count { note(.emotes) }
  }

  /// Where the text has emotes, as in `25:0-4,12-16/1902:6-10`: for each emote its first and its last position. A value
  /// that cannot be read counts as none, and is counted.
  private var emotes: [Range<Int>] {
    let span = tags[IRCTag.emotes.rawValue]
    var ranges: [Range<Int>] = []
    var (start, number, isPosition, isOdd): (Int?, Int?, Bool, Bool) = (nil, nil, false, false)
    // A separator after the last one ends it like the others.
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
          // Those that follow are dropped.
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
    if isOdd { note(.emotes) }
    return ranges
  }

  /// Empty if the person has not chosen one. An invalid colour counts as none, and is counted.
  @inline(__always)
  private var color: NameColor? {
    guard has(.color) else { return nil }
    let span = tags[IRCTag.color.rawValue]
    guard !span.isEmpty else { return nil }
    return NameColor(UnsafeBufferPointer(start: bytes + span.start, count: span.count))
      ?? ignore(.color)
  }

  /// The channel of a message of a chat that several channels share, if that is another one.
  private func sharedChannel() -> Text? {
    let source = text(optionalName(.sourceRoomID))
    return source.isEmpty || source == text(slice(.roomID)) ? nil : source
  }

  /// The name to show; the login name if the person has not set one, else the identifier.
  @inline(__always)
  private func userName() -> ByteSlab.Slice {
    let name = optionalName(.displayName)
    if !name.isEmpty { return name }
    let login = optionalName(.login)
    if !login.isEmpty { return login }
    // Some logs leave out all names.
    return !nick.isEmpty && slice(nick).isName(in: slab) ? slice(nick) : optionalName(.userID)
  }

  /// The text of a message written with `/me`, which comes as `\u{1}ACTION text\u{1}`.
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

  /// Subscriptions, gifts and raids are notices, with what the person wrote. What the channel announces, or Twitch says
  /// of the person, is an announcement. Of any other kind the person's words are a message that names the kind.
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
      // A single gift has the number of gifts its giver has made so far; a gift of a bomb has 0.
      let isAlone = integer(.senderCount, in: EventLimits.count) ?? 0 > 0
      return try notice(.gift, 1, words, group: isAlone ? nil : group())
    case "submysterygift", "anonsubmysterygift":
      return try notice(
        .giftBomb, integer(.massGiftCount, in: EventLimits.count) ?? 1, words, group: group())
    case "raid": return try notice(.raid, integer(.viewerCount, in: EventLimits.count) ?? 0, words)
    case "announcement", "bitsbadgetier", "charitydonation", "standardpayforward",
      "communitypayforward":
      // The amount of a donation must not give way to the words.
      let hasAmount = type == Text("charitydonation")
      if hasAmount, let sentence = systemMessage.map({ text($0) }) ?? donation {
        return .activity(.announcement(try announcement(sentence, followedBy: words)))
      }
      guard let said = words.map({ slice($0) }) ?? systemMessage else { break }
      return .activity(.announcement(try announcement(text(said), hasEmotes: words != nil)))
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

  /// - Parameter hasEmotes: whether the positions of the line's emotes are those in `words`.
  private func announcement(_ words: Text, hasEmotes: Bool) throws(RejectionReason) -> Announcement
  {
    let emotes =
      hasEmotes && has(.emotes) && !tags[IRCTag.emotes.rawValue].isEmpty ? self.emotes : []
    let usable = EmoteRanges.usable(emotes, in: words)
    noteUnusable(emotes, kept: usable.count)
    return Announcement(user: try person(), text: words, emotes: usable, id: identifier)
  }

  /// What Twitch says of the person, and after it what the person wrote.
  private func announcement(
    _ sentence: Text, followedBy words: ByteSpan?
  ) throws(RejectionReason) -> Announcement {
    guard let words else { return try announcement(sentence, hasEmotes: false) }
    let said = try announcement(text(slice(words)), hasEmotes: true)
    let opening = String(sentence) + ": "
    let shift = opening.unicodeScalars.count
    let emotes = said.emotes.map { ($0.lowerBound + shift)..<($0.upperBound + shift) }
    return Announcement(
      user: said.user, text: Text(opening + String(said.text)), emotes: emotes, id: said.id)
  }

  /// A sentence about a donation to charity that has none of Twitch's.
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

  /// What Twitch says of the person.
  private var systemMessage: ByteSlab.Slice? {
    let said = slice(.systemMessage)
    return said.isEmpty ? nil : said
  }

  /// The identifier that a gift bomb shares with its gifts.
  private func group() -> Text? {
    let community = optionalName(.communityGiftID)
    let group = community.isEmpty ? optionalName(.originID) : community
    return group.isEmpty ? nil : text(group)
  }
}
