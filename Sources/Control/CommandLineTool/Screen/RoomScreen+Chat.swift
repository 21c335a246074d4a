import ControlInterface

// What is told of chat and waiting room beside their figures.
extension RoomScreen {
  static func reading(_ chat: ChatReport) -> [String] { notes(chat).map { "         " + $0 } }

  /// Modes, the notice in front, filter, unread messages and an open thread: what there is of them.
  static func notes(_ chat: ChatReport) -> [String] {
    var lines: [String] = []
    if let modes = chat.modes.map(text), !modes.isEmpty { lines.append("modes: \(modes)") }
    let notices = chat.noticeQueue ?? []
    if let front = notices.last(where: \.pinned) ?? notices.last { lines.append(text(front)) }
    if let filter = chat.filter { lines.append("only " + text(filter)) }
    if let names = chat.mentionedNames, !names.isEmpty {
      lines.append(
        "marked: \(names.map { "@" + TerminalText.sanitized($0) }.joined(separator: ", "))")
    }
    if let unread = chat.unread { lines.append("\(Format.count(unread)) new since scrolled back") }
    if let thread = chat.thread { lines += ["thread:"] + thread.map { "  " + text($0) } }
    return lines
  }

  static func text(_ message: ChatMessageReport) -> String {
    let text = message.deleted ? "(deleted)" : TerminalText.sanitized(message.text)
    return (message.mention == true ? "* " : "")
      + "\(TerminalText.sanitized(message.user.name)): \(text)"
  }

  static func text(_ notice: NoticeReport) -> String {
    let name = notice.user.name.isEmpty ? "somebody" : TerminalText.sanitized(notice.user.name)
    let count = Format.count(notice.count)
    let text =
      switch notice.kind {
      case "subscribe": "\(name) subscribed"
      case "resubscribe": "\(name) subscribed for \(count) months"
      case "gift": "\(name) gave a subscription"
      case "giftBomb": "\(name) gave \(count) subscriptions"
      case "raid": "\(name) raids with \(count)"
      case "cheer": "\(name) cheers \(count)"
      default: "\(name): \(TerminalText.sanitized(notice.kind)), \(count)"
      }
    return "notice \(notice.number): \(text)\(notice.pinned ? " (pinned)" : "")"
  }

  static func text(_ room: WaitingRoomReport) -> String {
    var text = "\(Format.count(room.waiting)) waiting, \(Format.count(room.admitted))"
    if let capacity = room.capacity { text += " of \(Format.count(capacity))" }
    text += " admitted"
    if let seconds = room.secondsLeft { text += ", begins in \(Format.duration(seconds: seconds))" }
    return text
  }

  private static func text(_ filter: ChatFilterReport) -> String {
    var parts: [String] = []
    if let user = filter.user { parts.append("by \(TerminalText.sanitized(user))") }
    if let words = filter.words { parts.append("with \"\(TerminalText.sanitized(words))\"") }
    if filter.mentionsOnly == true { parts.append("mentions") }
    return parts.joined(separator: ", ")
  }

  private static func text(_ modes: ChatModesReport) -> String {
    var parts: [String] = []
    if let seconds = modes.slowSeconds, seconds > 0 { parts.append("slow \(seconds) s") }
    if modes.emoteOnly == true { parts.append("emotes only") }
    if let minutes = modes.followersOnlyMinutes, minutes >= 0 {
      parts.append("followers only (\(minutes) min)")
    }
    if modes.subscribersOnly == true { parts.append("subscribers only") }
    if modes.uniqueOnly == true { parts.append("unique only") }
    return parts.joined(separator: ", ")
  }
}
