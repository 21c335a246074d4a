import ControlInterface

/// What stands in the pane of a room's chat.
struct ChatPane {
  let chat: ChatReport?
  let history: ChatHistory
  /// The number behind the last message to show; nil follows the newest.
  let end: Int?

  /// The lines for a place: a summary, what is special about the chat, then as many messages as there is
  /// room for; while the host filters them, those that pass.
  func lines(columns: Int, rows: Int) -> [StyledLine] {
    guard let chat else { return [StyledLine("nobody wrote yet", .faint)] }
    let notes = RoomScreen.notes(chat).flatMap {
      StyledLine($0, .faint).wrapped(width: columns)
    }
    // The messages are what the pane is for: they keep half of it.
    let head = [summary(chat)] + notes.prefix(max(0, rows / 2 - 1))
    let place = max(0, rows - head.count)
    var messages: [StyledLine] = []
    for message in shown(chat).reversed() {
      guard messages.count < place else { break }
      messages.insert(contentsOf: Self.line(message).wrapped(width: columns), at: 0)
    }
    return head + messages.suffix(place)
  }

  /// The messages that are looked at, oldest first.
  private func shown(_ chat: ChatReport) -> ArraySlice<ChatMessageReport> {
    if let filtered = chat.filtered { return filtered[...] }
    return history.messages.prefix(max(0, min(history.end, end ?? history.end) - history.first))
  }

  private func summary(_ chat: ChatReport) -> StyledLine {
    if chat.filtered == nil, let end, history.end > end {
      return StyledLine(
        "\(Format.count(history.end - end)) newer messages below; End shows them", .warning)
    }
    var facts = [
      "\(Format.count(chat.total)) messages by \(Format.count(chat.chatters))",
      "\(Format.rate(chat.rate))/s",
    ]
    for (count, name) in [(chat.deleted, "deleted"), (chat.notices, "notices")] where count > 0 {
      facts.append("\(Format.count(count)) \(name)")
    }
    return StyledLine(facts.joined(separator: "  "), .faint)
  }

  private static func line(_ message: ChatMessageReport) -> StyledLine {
    var line = StyledLine(message.replyTo == nil ? "" : "> ", .faint)
    if message.mention == true { line.append("* ", .warning) }
    line.append(
      TerminalText.sanitized(message.user.name), TextStyle(color(message.user.id), strong: true))
    line.append(": ")
    if message.deleted {
      line.append("(deleted)", .faint)
    } else {
      line.append(TerminalText.sanitized(message.text))
    }
    return line
  }

  /// The same for the same person; never red, which means that something is wrong.
  private static func color(_ user: String) -> TextStyle.Color {
    var hash: UInt32 = 2_166_136_261
    for byte in user.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    let colors = TextStyle.Color.allCases.filter { $0 != .red }
    return colors[Int(hash) % colors.count]
  }
}
