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
        .text("\(state.chatters) people"),
        .text("\(state.rate)/s"),
        .text("\(state.deleted) deleted", .faint),
      ])
    ]
    let modes = state.modes.labels
    if !modes.isEmpty { lines.append(.text(modes.joined(separator: ", "), .faint)) }
    if let notice = state.notices.entries.last { lines.append(.text(notice.line, .strong)) }
    lines.append(.list(state.messages.suffix(Self.rows).map(\.row)))
    return .panel(title: "Chat", .column(lines))
  }
}

extension DisplayedMessage {
  fileprivate var row: ViewNode.ListRow {
    .init(
      id: String(number),
      .row([.text(String(message.userName), .strong), .text(String(message.text))]))
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
