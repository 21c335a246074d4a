import LiveSources
package import RateLimiting

/// A chat message from a server that sends no tags, and therefore no identifier.
package struct UntaggedMessage: Equatable, Sendable {
  package var channel: String
  package var nick: String
  package var text: String

  package init(channel: String, nick: String, text: String) {
    self.channel = channel
    self.nick = nick
    self.text = text
  }
}

/// Processes the lines of a server.
extension TwitchSession {
  package enum Verdict: Equatable, Sendable {
    case ignore
    /// Forward the line unchanged, since the daemon reads Twitch's format.
    case forward
    /// Forward the message as a native line, since the daemon cannot read the original without an
    /// identifier.
    case forwardUntagged(UntaggedMessage)
  }

  /// Processes a line, which is given without its line ending. Returns how to handle the line.
  /// Takes O(length of the line).
  package mutating func receive(
    _ line: UnsafeRawBufferPointer, on id: Int, at now: Instant
  ) -> Verdict {
    guard connections[id] != nil, let fields = IRCFields(line) else { return .ignore }
    connections[id]?.heard(at: now)
    switch fields.command {
    case "PRIVMSG", "USERNOTICE", "CLEARCHAT", "CLEARMSG", "ROOMSTATE":
      guard isNews(line, fields, on: id, at: now) else { return .ignore }
      return fields.command == "PRIVMSG" && fields.tag("id") == nil
        ? Self.untagged(fields) : .forward
    case "PING": perform(.send(id, "PONG :\(fields.parameter(0) ?? "")"))
    case "PONG": ponged(fields, on: id, at: now)
    case "CAP": answered(fields, on: id, at: now)
    case "001": welcomed(fields, on: id, at: now)
    case "JOIN":
      guard let channel = fields.channel(), isOwn(fields, id) else { break }
      joined(channel, on: id, at: now)
    case "PART", "KICK": left(fields, on: id, at: now)
    case "RECONNECT": replace(id, at: now)
    case "NOTICE": noticed(fields, on: id, at: now)
    case "ERROR": connections[id]?.farewell = fields.parameter(0).map { Self.quoted($0) }
    case "421": if fields.word(1) == "CAP" { endCapabilities(id, at: now) }
    case "403", "405", "471", "473", "474", "475", "477":
      guard let channel = fields.channel(1) else { break }
      refuse(channel, on: id, reason: Self.quoted(fields.parameter(2) ?? ""), at: now)
    case "432", "433": rename(id, at: now)
    case "464": refuse("the password is wrong")
    default: break
    }
    return .ignore
  }

  /// Returns whether to forward a line of a channel's history: only a message or a moderator's
  /// action that was sent after `time` (in milliseconds since 1970), is new, and was not deleted.
  /// Takes O(length of the line).
  package mutating func receive(
    history line: UnsafeRawBufferPointer, of channel: String, since time: Int
  ) -> Bool {
    // The memory of received identifiers may no longer contain older messages.
    guard let fields = IRCFields(line), fields.channel() == channel, channels[channel] != nil,
      let sent = fields.tag("tmi-sent-ts").flatMap({ Int(String(decoding: $0, as: UTF8.self)) }),
      sent > time
    else { return false }
    if ["CLEARCHAT", "CLEARMSG"].contains(fields.command) { return true }
    guard ["PRIVMSG", "USERNOTICE"].contains(fields.command), let identifier = fields.tag("id"),
      // The history service marks messages that were deleted later.
      !(fields.tag("rm-deleted")?.elementsEqual("1".utf8) ?? false)
    else { return false }
    guard identifiers.isNew(identifier) else {
      channels[channel]?.duplicates += 1
      return false
    }
    forwarded += 1
    channels[channel]?.backfilled += 1
    return true
  }

  /// Reports the status of a channel after all lines of its history were received.
  package mutating func receivedHistory(of channel: String) {
    guard let status = channels[channel]?.status else { return }
    setStatus(status.state, of: channel, status.reason)
  }

  private static func untagged(_ fields: IRCFields) -> Verdict {
    guard let channel = fields.channel(), var text = fields.parameter(1), !fields.nick.isEmpty
    else {
      return .ignore
    }
    if text.utf8.starts(with: "\u{1}ACTION ".utf8), text.utf8.last == 1 {
      text = String(text.unicodeScalars.dropFirst(8).dropLast())
    }
    return .forwardUntagged(UntaggedMessage(channel: channel, nick: fields.nick, text: text))
  }

  /// Returns a text from the server, truncated to 60 scalars so that it can be quoted in a message
  /// to people.
  private static func quoted(_ text: String) -> String { String(text.unicodeScalars.prefix(60)) }

  private func isOwn(_ fields: IRCFields, _ id: Int) -> Bool {
    connections[id]?.nick == fields.nick
  }

  // MARK: Chat

  private mutating func isNews(
    _ line: UnsafeRawBufferPointer, _ fields: IRCFields, on id: Int, at now: Instant
  ) -> Bool {
    guard let channel = fields.channel(), channels[channel] != nil,
      let connection = connections[id]
    else { return false }
    let link = connection.link
    let isNew: Bool
    if let identifier = fields.tag("id") {
      isNew = identifiers.isNew(identifier)
    } else {
      isNew = copies?.isNew(line, on: id) ?? true
    }
    guard isNew else {
      channels[channel]?.duplicates += 1
      return false
    }
    forwarded += 1
    if fields.command == "PRIVMSG" || fields.command == "USERNOTICE" {
      links[link].policy.receivedUsefulData(at: now, connected: connection.openedAt)
    }
    return true
  }

  // MARK: The connection

  private mutating func ponged(_ fields: IRCFields, on id: Int, at now: Instant) {
    guard let connection = connections[id] else { return }
    connections[id]?.ponged(at: now)
    if connection.phase.isDraining {
      // An answer to an earlier PING does not confirm messages sent after it.
      if fields.word(1) == Self.drainToken { drained(id, at: now) }
      return
    }
    // An answered PING counts as useful data, because a chat may have no messages.
    if !connection.joined.isEmpty {
      links[connection.link].policy.receivedUsefulData(at: now, connected: connection.openedAt)
    }
  }

  private mutating func welcomed(_ fields: IRCFields, on id: Int, at now: Instant) {
    guard case .registering = connections[id]?.phase else { return }
    if let nick = fields.word(0), !nick.isEmpty { connections[id]?.nick = nick }
    connections[id]?.isWelcome = true
    // Joins wait for the tags capability, although Twitch does not require it. Without tags, a copy
    // of a line that arrives on another connection could not be recognised.
    if connections[id]?.requested.isEmpty == true {
      registered(id, at: now)
    } else {
      setDeadline(of: id, at: now + settings.answer)
    }
  }

  /// Chooses another nickname after the server rejected the first one, because it is in use or
  /// because it is too long for a server other than Twitch's.
  private mutating func rename(_ id: Int, at now: Instant) {
    guard case .registering = connections[id]?.phase else { return }
    guard settings.account == nil, connections[id]?.hasShortName == false else {
      return end(id, reason: "the server rejects the nickname", at: now)
    }
    let nick = "lh\(Int.random(in: 10_000...99_999, using: &generator))"
    connections[id]?.nick = nick
    connections[id]?.hasShortName = true
    perform(.send(id, "NICK \(nick)"))
  }

  private mutating func answered(_ fields: IRCFields, on id: Int, at now: Instant) {
    guard let connection = connections[id], !connection.requested.isEmpty else { return }
    switch fields.word(1) {
    case "ACK":
      let granted = connection.asksOneByOne ? [connection.requested[0]] : connection.requested
      if granted.contains("twitch.tv/tags") { connections[id]?.hasTags = true }
      answeredCapability(id, at: now)
    case "NAK":
      if connection.asksOneByOne {
        answeredCapability(id, at: now)
      } else {
        // A server rejects the whole request if it does not know one of the capabilities.
        connections[id]?.asksOneByOne = true
        perform(.send(id, "CAP REQ :\(connection.requested[0])"))
      }
    default: break
    }
  }

  private mutating func answeredCapability(_ id: Int, at now: Instant) {
    guard let connection = connections[id] else { return }
    connections[id]?.requested.removeFirst(connection.asksOneByOne ? 1 : connection.requested.count)
    if let next = connections[id]?.requested.first {
      perform(.send(id, "CAP REQ :\(next)"))
    } else {
      endCapabilities(id, at: now)
    }
  }

  private mutating func endCapabilities(_ id: Int, at now: Instant) {
    guard case .registering = connections[id]?.phase else { return }
    connections[id]?.requested = []
    perform(.send(id, "CAP END"))
    if connections[id]?.isWelcome == true { registered(id, at: now) }
  }

  private mutating func left(_ fields: IRCFields, on id: Int, at now: Instant) {
    guard let channel = fields.channel(), let connection = connections[id],
      connection.joined[channel] != nil,
      fields.command == "KICK" ? fields.word(1) == connection.nick : isOwn(fields, id)
    else { return }
    connections[id]?.joined[channel] = nil
    lose(channel, since: now, reason: "the server removed this source from the channel")
    if links[connection.link].channels.count > 1 {
      move([channel], from: id, at: now)
    } else {
      end(id, reason: "the server removed this source from the channel", at: now)
    }
  }

  private mutating func noticed(_ fields: IRCFields, on id: Int, at now: Instant) {
    if let channel = fields.channel() {
      switch fields.tag("msg-id").flatMap(IRCFields.word) {
      case "msg_channel_suspended", "msg_banned", "msg_room_not_found", "tos_ban":
        refuse(channel, on: id, reason: Self.quoted(fields.parameter(1) ?? ""), at: now)
      default: break
      }
    } else if case .registering = connections[id]?.phase, let text = fields.word(1),
      Self.refusals.contains(text)
    {
      refuse(text)
    }
  }

  /// The notices that Twitch sends for wrong credentials before it disconnects.
  private static let refusals: Set = [
    "Login authentication failed", "Login unsuccessful", "Improperly formatted auth",
    "Invalid NICK",
  ]
}
