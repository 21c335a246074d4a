import LiveEvents
import ViewGraph

/// The view acts of the chat. A busy chat is drawn in every frame, so the acts are stored, and made
/// again only when the controllers' offers change.
final class OfferedViewActs {
  private var offers: [OfferedActs] = []
  /// The acts of the line above the messages.
  private(set) var header: [ViewAct]
  /// The acts of the messages.
  private(set) var rows: [ViewAct]

  private static let header = [ViewAct("filter by words", "SetChatFilter", input: .text("words"))]
  private static let rows = [
    ViewAct("thread", "ShowThread", input: .numberedRow("number")),
    ViewAct("only this person", "SetChatFilter", input: .numberedRow("author")),
    ViewAct("person", "ShowPerson", input: .numberedRow("number")),
  ]
  /// The duration of a time-out from the screen, which is also Twitch's default. Other durations
  /// require a call of `Act`.
  private static let timeOutSeconds = 600

  init() { (header, rows) = (Self.header, Self.rows) }

  func update(for offers: [OfferedActs]) {
    guard offers != self.offers else { return }
    self.offers = offers
    header =
      Self.header + act(.say, "say", text: true) + act(.announce, "announce", text: true)
      + act(.mark, "mark") + act(.setTitle, "title", text: true)
      + act(.setCategory, "category", text: true)
    rows =
      Self.rows + rowAct(.reply, "reply", text: "text") + rowAct(.delete, "delete", confirms: true)
      + rowAct(.timeOut, "time out", ["seconds": .number(Self.timeOutSeconds)])
      + rowAct(.ban, "ban", confirms: true)
  }

  /// Returns one act for each controller that can carry it out. If there are several controllers,
  /// each act names its platform, and also its source if the platform has several.
  private func act(_ kind: ActKind, _ label: String, text: Bool = false) -> [ViewAct] {
    let able = offers.filter { $0.kinds.contains(kind) }
    return able.map { offer in
      var act = ViewAct(
        label, "Act", ["kind": .text(kind.rawValue)], input: text ? .text("text") : nil)
      guard able.count > 1 else { return act }
      let isShared = able.count { $0.platform == offer.platform } > 1
      let needsSource = isShared || offer.platform == nil
      let names = needsSource ? [offer.platform, offer.source] : [offer.platform]
      if let platform = offer.platform { act.arguments["platform"] = .text(String(platform)) }
      if needsSource, let source = offer.source {
        act.arguments["source"] = .text(String(source))
      }
      act.label += " on " + names.compactMap { $0.map { String($0) } }.joined(separator: "/")
      return act
    }
  }

  /// Returns an act on messages of the platforms on which a controller can carry it out.
  private func rowAct(
    _ kind: ActKind, _ label: String, _ arguments: [String: ViewAct.Value] = [:],
    text: String? = nil, confirms: Bool = false
  ) -> [ViewAct] {
    let able = offers.filter { $0.kinds.contains(kind) }
    guard !able.isEmpty else { return [] }
    var platforms: [String]? = []
    for offer in able {
      // A controller without a platform acts on all of them.
      guard let platform = offer.platform.map({ String($0) }) else {
        platforms = nil
        break
      }
      if platforms?.contains(platform) == false { platforms?.append(platform) }
    }
    return [
      ViewAct(
        label, "Act", arguments.merging(["kind": .text(kind.rawValue)]) { $1 },
        input: .numberedRow("number"), text: text, confirms: confirms, groups: platforms)
    ]
  }
}
