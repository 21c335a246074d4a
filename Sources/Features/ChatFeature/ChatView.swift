import Analysis
import LiveEvents
import RateLimiting
package import ViewGraph
import Wording

/// Shows the chat's counts, the content requested by the host, and below them the newest messages.
package struct ChatView: View {
  package static let name = "ChatView"

  /// The maximum number of messages in a frame.
  package static let rows = 12
  /// The maximum number of earlier messages that a subscriber receives.
  package static let earlierRows = 48
  /// The maximum number of bursts of duplicates shown. The newest are shown.
  static let burstRows = 4
  /// The maximum number of highlights shown. The newest are shown.
  static let highlightRows = 3

  package init() {}

  package func body(_ state: Observed<ChatFeature.State>, _ context: ViewContext) -> ViewNode {
    let acts = state.acts
    let offered = context.kept(OfferedViewActs.init)
    offered.update(for: acts?.offers ?? [])
    var lines: [ViewNode] = [.acting(offered.header, .row(figures(state)))]
    lines += acts?.lines ?? []
    let modes = state.modes.labels
    if !modes.isEmpty { lines.append(.row(modes.map { .badge($0, .faint) })) }
    if let notice = state.notices.front { lines.append(notice.node) }
    let filter = state.filter
    if let filter {
      lines.append(.text(filter.label, .warning).acting(ViewAct("show all", "SetChatFilter")))
    }
    let names = state.mentionedNames.names
    if !names.isEmpty {
      lines.append(.text("marked: \(names.map { "@" + $0 }.joined(separator: ", "))", .faint))
    }
    let isMixed = state.isMixed == true
    let unread = state.unread
    if state.readUpTo != nil {
      lines.append(.text("\(Format.count(unread)) new since scrolled back", .warning))
    }
    if let thread = state.thread {
      lines.append(.text("thread:", .strong).acting(ViewAct("close", "ShowThread")))
      lines.append(
        .list(thread.messages.suffix(Self.rows).map { $0.row(ofSeveral: isMixed) }))
    }
    if let card = state.card {
      let person = context.kept(OfferedPersonActs.init)
      person.update(for: card, acts?.offers ?? [])
      lines += card.lines(person.acts, ofSeveral: isMixed)
    }
    if let bursts = state.waves, !bursts.current.isEmpty {
      lines.append(.list(bursts.current.suffix(Self.burstRows).map(\.row)))
    }
    if let highlights = state.highlights {
      lines.append(.list(highlights.numbered(last: Self.highlightRows).map { $1.row($0) }))
    }
    let visible = VisibleMessages(
      filtered: state.filtered, folded: state.folded, bursts: state.waves, all: state.messages,
      readUpTo: state.readUpTo)
    lines.append(
      .acting(
        offered.rows,
        .list(
          context.kept(KeptRows<ChatRow>.init).rows(
            for: visible.suffix(Self.rows).map {
              ChatRow(message: $0, isMixed: isMixed, isGrouped: acts != nil)
            },
            \.row),
          scrolling: filter.map { "messages \($0.label)" } ?? "messages")))
    return .panel(.init("chat", title: "Chat", priority: 1, minimumRows: 2), .column(lines))
  }

  package func earlierRows(_ state: ChatFeature.State) -> [ViewNode.ListRow] {
    VisibleMessages(
      filtered: state.filtered, folded: state.folded, bursts: state.waves, all: state.messages,
      readUpTo: state.readUpTo
    ).suffix(Self.rows + Self.earlierRows).dropLast(Self.rows).map {
      $0.row(ofSeveral: state.isMixed == true, grouped: state.acts != nil)
    }
  }

  private func figures(_ state: Observed<ChatFeature.State>) -> [ViewNode] {
    var figures: [ViewNode] = [
      .text(
        Format.count(state.total, "message") + " by "
          + (state.chattersAtLeast == true ? "at least " : "")
          + Format.count(state.chatters, "person", plural: "people"), .strong),
      .text(Format.count(state.rate) + "/s"),
    ]
    if let history = state.rateHistory { figures.append(.sparkline(history.samples)) }
    let deleted = state.deleted
    if deleted > 0 { figures.append(.text(Format.count(deleted) + " deleted", .faint)) }
    if let busiest = state.topChatters.first {
      figures.append(
        .text("most by \(busiest.name) (\(Format.count(busiest.messages)))", .faint))
    }
    return figures
  }
}

extension Burst {
  /// The row of a burst of duplicates, which keeps its identity while the burst grows.
  fileprivate var row: ViewNode.ListRow {
    .init(
      id: "wave-\(number)",
      .row([
        .text(Format.count(messages, "message"), .strong),
        .text(
          "by " + (peopleAtLeast == true ? "at least " : "")
            + Format.count(people, "person", plural: "people") + ":", .faint),
        .text(sample),
      ]))
  }
}

extension ChatHighlight {
  fileprivate func row(_ number: Int) -> ViewNode.ListRow {
    .init(
      id: "highlight-\(number)",
      .row([
        .text(Format.timeOfDay(milliseconds: startedAt), .faint),
        .text(
          "\(Format.count(messages, "message")) in \(Format.duration(seconds: seconds))", .strong),
        .text(
          "\(Format.rate(Double(busiest) / 10))/s after \(Format.rate(Double(usual) / 10))/s",
          .faint),
        .text(words.map { String($0) }.joined(separator: " ")),
      ]))
  }
}

extension ChatFilter {
  fileprivate var label: String {
    var parts: [String] = []
    if let person { parts.append("by \(person)") }
    if !words.isEmpty { parts.append("with \"\(words)\"") }
    if mentionsOnly { parts.append("mentions") }
    if let platform { parts.append("on \(platform)") }
    return "only " + parts.joined(separator: ", ")
  }
}

/// A row in the list of messages.
private struct ChatRow: Equatable {
  let message: DisplayedMessage
  /// Whether the row shows the platform of the message, because the chat contains several
  /// platforms.
  let isMixed: Bool
  /// Whether acts may apply only to the messages of some platforms.
  let isGrouped: Bool

  var row: ViewNode.ListRow { message.row(ofSeveral: isMixed, grouped: isGrouped) }

  static func == (one: ChatRow, other: ChatRow) -> Bool {
    one.isMixed == other.isMixed && one.isGrouped == other.isGrouped
      && one.message.isIdentical(to: other.message)
  }
}

extension DisplayedMessage {
  /// - Parameters:
  ///   - isMixed: Whether the row shows the message's platform, because the chat contains several
  ///     platforms.
  ///   - isGrouped: Whether the row belongs to the group of the message's platform.
  func row(ofSeveral isMixed: Bool, grouped isGrouped: Bool = false) -> ViewNode.ListRow {
    var marks: [ViewNode] = []
    if isMixed, origin != .none, !origin.platform.isEmpty {
      marks.append(.text("[\(origin.platform)]", .faint))
    }
    // A state saved by an earlier version lacks the author of the answered message.
    if thread != nil, answered == nil { marks.append(.text(">", .faint)) }
    if isMention { marks.append(.text("*", .warning)) }
    if !message.channel.isEmpty { marks.append(.text("(\(message.channel))", .faint)) }
    if !message.kind.isEmpty { marks.append(.text("[\(message.kind)]", .faint)) }
    let text = message.words(isMention ? .warning : .normal)
    let author = message.author(isFollowed: answered != nil)
    let words = answered.map { [author, message.to($0), text] } ?? [author, text]
    // Most messages have no marks. Not concatenating an empty array saves noticeable time, because
    // each frame creates all rows that it draws.
    let platform = isGrouped ? origin.platform : ""
    return .init(
      id: String(number), group: platform.isEmpty ? nil : String(platform),
      .row(marks.isEmpty ? words : marks + words))
  }
}

extension ChatMessage {
  /// The separator after the name. An action continues the name without a colon.
  private var end: String { isAction ? "" : ":" }

  /// Returns the author of the answered message, which is shown after the author of the reply.
  fileprivate func to(_ answered: String) -> ViewNode { .text("> \(answered)\(end)", .faint) }

  fileprivate func words(_ emphasis: ViewNode.Emphasis) -> ViewNode {
    let emotes = emotes
    return emotes.isEmpty
      ? .text(String(text), emphasis) : .marked(String(text), emotes, emphasis)
  }

  /// Returns a single element with a description of the notice, followed by the text.
  fileprivate func words(after deed: String) -> ViewNode {
    let start = deed + ": "
    let shift = start.unicodeScalars.count
    let emotes = emotes.map { $0.lowerBound + shift..<$0.upperBound + shift }
    let whole = start + String(text)
    return emotes.isEmpty ? .text(whole, .strong) : .marked(whole, emotes, .strong)
  }

  /// Returns the author, badges, and cheered bits as a single element, because separate elements
  /// would make the layout slower.
  fileprivate func author(isFollowed: Bool) -> ViewNode {
    let name = String(userName)
    let (bits, color) = (self.bits, self.color?.rgb)
    let standing = badges.isEmpty ? nil : self.standing
    let end = isFollowed ? "" : self.end
    if bits == 0, standing == nil, color == nil { return .text(name + end, .person) }
    if bits == 0 { return .person(.init(name + end, standing: standing, color: color)) }
    let remark = "with \(Format.count(Int(bits), "bit"))\(end)"
    return .person(.init(name, standing: standing, remark: remark, color: color))
  }
}

extension DisplayedNotice {
  fileprivate var node: ViewNode {
    let line = Phrase.notice(
      kind: notice.kind.rawValue, name: String(notice.user.name), count: count, number: number,
      isPinned: isPinned)
    return (notice.message?.words(after: line) ?? .text(line, .strong)).acting(
      handling(isPinned ? "unpin" : "pin"), handling("dismiss"))
  }

  private func handling(_ word: String) -> ViewAct {
    ViewAct(word, "HandleNotice", ["notice": .number(number), "handling": .text(word)])
  }
}

extension ChatModes {
  /// The names of the active modes, in a fixed order.
  fileprivate var labels: [String] {
    var labels: [String] = []
    if let slowSeconds, slowSeconds > 0 {
      labels.append("slow, \(Format.duration(seconds: slowSeconds))")
    }
    if emoteOnly == true { labels.append("emotes only") }
    if let followersOnlyMinutes, followersOnlyMinutes >= 0 {
      labels.append("followers only, \(Format.duration(seconds: followersOnlyMinutes * 60))")
    }
    if subscribersOnly == true { labels.append("subscribers only") }
    if uniqueOnly == true { labels.append("unique only") }
    return labels
  }
}
