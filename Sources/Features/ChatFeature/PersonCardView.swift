import LiveEvents
import ViewGraph
import Wording

extension PersonCard {
  /// The maximum number of moderations on the screen. The newest are shown; a call returns all.
  private static let moderationRows = 6

  /// The lines of the card. The first one offers `acts`.
  func lines(_ acts: [ViewAct], ofSeveral isMixed: Bool) -> [ViewNode] {
    var lines: [ViewNode] = [.acting(acts, .row(heading)), .row(figures)]
    if let note { lines.append(.row([.text("note:", .strong), .text(note)])) }
    lines += moderations.suffix(Self.moderationRows).map(\.node)
    if !newest.isEmpty { lines.append(.list(newest.map { $0.row(ofSeveral: isMixed) })) }
    return lines
  }

  private var heading: [ViewNode] {
    var heading: [ViewNode] = [.text("person:", .strong), .text(name, .person)]
    if let platform = person.platform { heading.append(.text("on \(platform)")) }
    heading.append(.text("identifier \(person.id)", .faint))
    let badges = String(badges.cut(to: EventLimits.nameLength))
    if !badges.isEmpty { heading.append(.text("badges \(badges)", .faint)) }
    return heading
  }

  private var figures: [ViewNode] {
    var figures: [ViewNode] = [
      .text((messagesAtLeast == true ? "at least " : "") + Format.count(messages, "message"))
    ]
    if let firstAt {
      figures.append(
        .text(
          "first at \(Format.timeOfDay(milliseconds: firstAt))"
            + (firstAtMost == true ? " or earlier" : ""), .faint))
    }
    return figures
  }
}

extension PersonModeration {
  /// A line such as "13:17:57 timed out for 10:00 by bob".
  fileprivate var node: ViewNode {
    var line = timestamp.map { Format.timeOfDay(milliseconds: $0) + " " } ?? ""
    line += deed
    if let by { line += " by \(by)" }
    switch outcome {
    case .refused(let reason): return .text("\(line): \(reason)", .bad)
    case .sent where !isReported: return .text("\(line): sent, not confirmed", .faint)
    case .confirmed, .sent, nil: return .text(line, kind == .unban ? .normal : .warning)
    }
  }

  private var deed: String {
    switch kind {
    case .delete: "message deleted"
    case .timeOut: "timed out for \(Format.duration(seconds: seconds ?? 0))"
    case .ban: "banned"
    case .unban: "time-out or ban lifted"
    case .say, .reply, .announce, .mark, .setTitle, .setCategory, .shoutOut, .setChatModes,
      .setShield, .reviewHeld:
      // Only a manipulated state contains such a moderation.
      kind.rawValue
    }
  }
}

/// The acts of a person's card. A busy chat is drawn in every frame, so the acts are stored, and
/// made again only when the person or the controllers' offers change.
final class OfferedPersonActs {
  private var key: Key?
  private(set) var acts: [ViewAct] = []

  private struct Key: Equatable {
    let person: PersonReference
    let name: String
    let offers: [OfferedActs]
  }

  private static let timeOuts = [("1 min", 60), ("10 min", 600), ("1 h", 3_600)]

  init() {}

  func update(for card: PersonCard, _ offers: [OfferedActs]) {
    let key = Key(person: card.person, name: card.name, offers: offers)
    guard key != self.key else { return }
    self.key = key
    let person = card.person.arguments
    acts = [
      ViewAct("close", "ShowPerson"),
      ViewAct("note", "NotePerson", person, input: .text("text")),
      ViewAct("only this person", "SetChatFilter", person),
    ]
    let named = Person(id: card.person.id, name: Text(card.name))
    func offer(
      _ kind: ActKind, _ label: String, seconds: Int? = nil, confirms: Bool = false
    ) -> [ViewAct] {
      guard offers.contains(where: { $0.offers(kind, on: card.person.platform) }) else { return [] }
      var act = ViewAct.on(named, kind, label, platform: card.person.platform)
      if let seconds { act.arguments["seconds"] = .number(seconds) }
      act.confirms = confirms
      return [act]
    }
    acts += Self.timeOuts.flatMap { offer(.timeOut, "time out \($0.0)", seconds: $0.1) }
    acts += offer(.unban, "lift") + offer(.ban, "ban", confirms: true)
  }
}

extension ViewAct {
  /// Returns an act on a person.
  static func on(
    _ person: Person, _ kind: ActKind, _ label: String, platform: Text?, source: Text? = nil
  ) -> ViewAct {
    var act = ViewAct(
      label, "Act",
      [
        "kind": .text(kind.rawValue),
        "user": .texts(["id": String(person.id), "name": String(person.name)]),
      ])
    if let platform { act.arguments["platform"] = .text(String(platform)) }
    if let source { act.arguments["source"] = .text(String(source)) }
    return act
  }
}

extension OfferedActs {
  /// Returns whether the controller can carry out an act of this kind on a platform; `nil` means an
  /// unknown platform.
  func offers(_ kind: ActKind, on platform: Text?) -> Bool {
    kinds.contains(kind)
      && (self.platform == nil || platform == nil || self.platform == platform)
  }
}

extension PersonReference {
  fileprivate var arguments: [String: ViewAct.Value] {
    var arguments = ["user": ViewAct.Value.text(String(id))]
    if let platform { arguments["platform"] = .text(String(platform)) }
    return arguments
  }
}
