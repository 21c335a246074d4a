import LiveEvents
package import ViewGraph

/// The newest messages with the figures of the chat above them.
package struct ChatView: View {
  package static let name = "ChatView"

  /// How many messages are on the screen.
  package static let rows = 12

  package init() {}

  package func body(_ state: Observed<ChatFeature.State>, _ context: ViewContext) -> ViewNode {
    var lines: [ViewNode] = [
      .row([
        .text("\(state.total) messages", .strong),
        .text(people(state.chatters, state.topChatters.first)),
        .text("\(state.rate)/s"),
        .text("\(state.deleted) deleted", .faint),
      ])
    ]
    let modes = state.modes.labels
    if !modes.isEmpty { lines.append(.text(modes.joined(separator: ", "), .faint)) }
    if let notice = state.notices.front { lines.append(.text(notice.line, .strong)) }
    if let filter = state.filter { lines.append(.text(filter.label, .faint)) }
    let unread = state.unread
    if state.readUpTo != nil, unread > 0 { lines.append(.text("\(unread) new", .strong)) }
    if let thread = state.thread {
      lines.append(.text("Thread", .strong))
      lines.append(.list(thread.messages.suffix(Self.rows).map(\.row)))
    }
    // Both are kept in the state: which messages pass a filter is not for a view to find out.
    let all = state.messages
    let messages = state.filtered ?? all
    let end = min(max(messages.count - unread, Self.rows), messages.count)
    lines.append(.list(messages.prefix(end).suffix(Self.rows).map(\.row)))
    return .panel(title: "Chat", .column(lines))
  }

  private func people(_ count: Int, _ busiest: TopChatter?) -> String {
    guard let busiest else { return "\(count) people" }
    return "\(count) people, \(busiest.name) wrote \(busiest.messages)"
  }
}

extension ChatFilter {
  fileprivate var label: String {
    var parts: [String] = []
    if let person { parts.append("by \(person)") }
    if !words.isEmpty { parts.append("with \"\(words)\"") }
    if mentionsOnly { parts.append("mentions") }
    return "only " + parts.joined(separator: ", ")
  }
}

extension DisplayedMessage {
  fileprivate var row: ViewNode.ListRow {
    .init(
      id: String(number),
      .row([
        .text(String(message.userName), .strong),
        .text(
          (thread == nil ? "" : "> ") + String(message.text), isMention ? .warning : .normal),
      ]))
  }
}

extension DisplayedNotice {
  fileprivate var line: String {
    let name = notice.user.name.isEmpty ? "somebody" : String(notice.user.name)
    return switch notice.kind {
    case .subscribe: "\(name) subscribed"
    case .resubscribe: "\(name) subscribed for \(count) months"
    case .gift: "\(name) gave a subscription"
    case .giftBomb: "\(name) gave \(count) subscriptions"
    case .raid: "\(name) raids with \(count)"
    case .cheer: "\(name) cheers \(count)"
    }
  }
}

extension ChatModes {
  /// The modes that are on, in a fixed order.
  fileprivate var labels: [String] {
    var labels: [String] = []
    if let slowSeconds, slowSeconds > 0 { labels.append("slow \(slowSeconds) s") }
    if emoteOnly == true { labels.append("emotes only") }
    if let followersOnlyMinutes, followersOnlyMinutes >= 0 {
      labels.append("followers only (\(followersOnlyMinutes) min)")
    }
    if subscribersOnly == true { labels.append("subscribers only") }
    if uniqueOnly == true { labels.append("unique only") }
    return labels
  }
}
