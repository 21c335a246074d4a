import LiveEvents
package import ViewGraph
import Wording

/// Shows the hype train, goals, and prediction above the feed.
package struct ActivityView: View {
  package static let name = "ActivityView"
  /// The maximum number of rows of the feed that are drawn.
  private static let drawn = 20

  private static let rowActs = [NoticeHandling.pin, .unpin, .dismiss].map {
    ViewAct(
      $0.rawValue, "HandleActivity", ["handling": .text($0.rawValue)],
      input: .numberedRow("activity"))
  }

  package init() {}

  package func body(_ state: Observed<ActivityFeature.State>, _ context: ViewContext) -> ViewNode {
    var parts: [ViewNode] = []
    if let train = state.train { parts.append(train.node) }
    parts += state.goals.map(\.node)
    if let prediction = state.prediction { parts += prediction.nodes }
    let feed = state.feed
    let isMixed = feed.isMixed
    let rows = feed.shown.prefix(Self.drawn).map {
      ViewNode.ListRow(id: "\($0.number)", $0.node(ofSeveral: isMixed))
    }
    parts.append(.acting(Self.rowActs, .list(rows)))
    return .panel(
      .init("activity", title: "Activity", priority: 3, minimumRows: 2),
      .column(parts))
  }
}

extension HypeTrain {
  fileprivate var node: ViewNode {
    let share = goal.map { Double(progress ?? 0) / Double(max($0, 1)) } ?? 0
    var text = "level \(Format.count(level))"
    if let progress, let goal {
      text += ", \(Format.count(progress)) of \(Format.count(goal))"
    } else if let total {
      text += ", \(Format.count(total)) in all"
    }
    return .gauge(label: "hype train", value: min(max(0, share), 1), text: text, .active)
  }
}

extension Goal {
  fileprivate var node: ViewNode {
    .gauge(
      label: String(title), value: min(1, Double(count) / Double(max(target, 1))),
      text: "\(Format.count(count)) of \(Format.count(target))", count >= target ? .good : .normal)
  }
}

extension Prediction {
  fileprivate var nodes: [ViewNode] {
    let badge: ViewNode =
      switch state {
      case .open: .badge("OPEN", .active)
      case .locked: .badge("LOCKED", .warning)
      case .resolved, .cancelled: .badge("ENDED", .faint)
      }
    let sum = totals.reduce(0) { $0.saturatingSum($1) }
    let bars = options.enumerated().map { index, option in
      let points = index < totals.count ? totals[index] : 0
      let share = sum > 0 ? Double(points) / Double(sum) : 0
      let hasWon = index == winner
      return ViewNode.gauge(
        label: String(option), value: share,
        text: "\(Format.percent(share)) \(Format.count(points, "point"))"
          + (hasWon ? ", winner" : ""), hasWon ? .good : .normal)
    }
    return [.row([badge, .text(String(title), .strong)])] + bars
  }
}

extension ActivityRow {
  /// - Parameter isMixed: Whether the row shows its platform, because the feed contains several
  ///   platforms.
  fileprivate func node(ofSeveral isMixed: Bool) -> ViewNode {
    var parts: [ViewNode] = [.text("\(number)", .faint)]
    if isMixed, let platform { parts.append(.text("[\(platform)]", .faint)) }
    if isPinned { parts.append(.badge("PINNED", .warning)) }
    parts.append(.text(sentence))
    if let text {
      // A saved state may contain any values.
      let ranges = EmoteRanges.usable(EmoteRanges.paired(emotes ?? []) ?? [], in: Text(text))
      parts.append(ranges.isEmpty ? .text(text, .faint) : .marked(text, ranges, .faint))
    }
    return .row(parts)
  }

  private var sentence: String {
    switch kind {
    case .follow: "\(who) followed"
    case .redemption:
      "\(who) redeemed \(title ?? "a reward")"
        + (count > 0 ? " for \(Format.count(count, "point"))" : "")
    case .announcement: name.map { "\($0) announces:" } ?? "announcement:"
    case .hypeTrain: "the hype train reached level \(Format.count(count))"
    case .subscribe: "\(who) subscribed"
    case .resubscribe:
      times > 1 ? "\(who) subscribed" : Phrase.deed("resubscribe", by: who, count)
    case .gift:
      times > 1 ? Phrase.deed("giftBomb", by: who, count) : Phrase.deed("gift", by: who, 1)
    case .giftBomb, .raid: Phrase.deed(kind.rawValue, by: who, count)
    case .cheer: "\(who) cheered \(Format.count(count))"
    }
  }

  private var who: String {
    let name = name ?? "someone"
    return times > 1 ? "\(name) and \(Format.count(times - 1, "other"))" : name
  }
}
