package import LiveEvents
import ViewGraph
import Wording

/// The acts on platforms, as the chat shows them. The parent decides which acts are possible, and
/// reports their outcomes.
package struct ChatActs: Equatable, Sendable, Codable {
  /// What the connected controllers can carry out, at most one offer for each platform and source.
  package var offers: [OfferedActs]
  /// The newest acts that have ended, then the acts without an outcome, each oldest first.
  package var performed: [PerformedAct]

  package init(offers: [OfferedActs] = [], performed: [PerformedAct] = []) {
    self.offers = offers
    self.performed = performed
  }

  package var isEmpty: Bool { offers.isEmpty && performed.isEmpty }

  /// The maximum number of offers. The parent must respect this limit and the next one.
  package static let maximumOffers = 16
  /// The maximum number of acts.
  package static let maximumActs = 80
}

/// An act that the host or a moderator performed.
package struct PerformedAct: Equatable, Sendable, Codable {
  /// A number that is unique in the room.
  package let number: Int
  package let act: RequestedAct
  /// `nil` while the act has no outcome.
  package let outcome: RequestOutcome?
  /// The author of the message that the act concerns, if the chat stored the message when the act
  /// began.
  var author: String?
  /// The identifier of that author.
  var authorID: Text?

  package init(number: Int, act: RequestedAct, outcome: RequestOutcome? = nil) {
    self.number = number
    self.act = act
    self.outcome = outcome
  }
}

extension ChatFeature {
  func show(_ acts: ChatActs, in state: inout State) {
    var acts = acts
    for index in acts.performed.indices {
      let performed = acts.performed[index]
      guard let message = performed.act.act.message else { continue }
      let known = state.acts?.performed.first { $0.number == performed.number }
      let stored = known?.author == nil ? state.messages.newest(withID: message)?.message : nil
      acts.performed[index].author = known?.author ?? stored.map { String($0.userName) }
      acts.performed[index].authorID = known?.authorID ?? stored?.userID.owned()
    }
    recordEnded(acts, after: state.acts, in: &state)
    let shown = acts.isEmpty ? nil : acts
    if state.acts != shown { state.acts = shown }
  }
}

// MARK: Words

extension ChatActs {
  /// The maximum number of acts without an outcome that are shown. The newest are shown.
  private static let pendingRows = 4
  /// The number of acts that ended last and may be shown. A confirmed act among them is shown only
  /// if it can be undone.
  private static let endedRows = 3

  /// Lines about acts that are not confirmed, and about confirmed acts that can be undone.
  var lines: [ViewNode] {
    let ended = performed.filter { $0.outcome != nil }.suffix(Self.endedRows)
    let pending = performed.filter { $0.outcome == nil }
    var lines = (ended + pending.suffix(Self.pendingRows)).compactMap { act in
      act.outcome == .confirmed ? undoLine(of: act) : act.line
    }
    if pending.count > Self.pendingRows {
      lines.append(.text("\(Format.count(pending.count)) acts pending", .warning))
    }
    return lines
  }
}

// MARK: Undoing

extension ChatActs {
  /// Returns the line of a confirmed time-out or ban, which offers to lift it. Returns `nil` if no
  /// controller can lift it, if a later act has lifted it or may still do so, and for all other
  /// acts, which cannot be undone.
  private func undoLine(of performed: PerformedAct) -> ViewNode? {
    let request = performed.act
    guard request.act.kind == .timeOut || request.act.kind == .ban,
      let person = request.act.person
    else { return nil }
    let isLifted = self.performed.contains { other in
      other.number > performed.number && other.act.act.kind == .unban
        && other.act.act.person?.id == person.id && other.act.platform == request.platform
        && other.outcome?.isSuccess ?? true
    }
    let isOffered = offers.contains {
      $0.offers(.unban, on: request.platform) && $0.source == request.source
    }
    guard isOffered, !isLifted else { return nil }
    return performed.confirmedLine.acting(
      .on(person, .unban, "lift", platform: request.platform, source: request.source))
  }
}

extension PerformedAct {
  fileprivate var confirmedLine: ViewNode { .text("\(deed): done", .good) }

  fileprivate var line: ViewNode? {
    switch outcome {
    case nil: .text("\(deed): pending", .warning)
    case .confirmed: nil
    case .sent: .text("\(deed): sent, not confirmed", .faint)
    case .refused(let reason): .text("\(deed): \(reason)", .bad)
    }
  }

  /// A phrase such as "ban Ann (by bob)".
  private var deed: String {
    let by = act.by.map { " (by \($0))" } ?? ""
    return act.act.phrase(author: author) + by
  }
}

extension PlatformAct {
  /// The maximum length of a quotation, in bytes. The whole text would take several lines.
  private static let quotedLength = 60

  /// Returns a phrase such as "delete a message from Ann".
  fileprivate func phrase(author: String?) -> String {
    let message = author.map { "message from \($0)" } ?? "message"
    let name = person.map { String($0.name.isEmpty ? $0.id : $0.name) } ?? ""
    let quoted = text.map { text in
      let start = text.cut(to: Self.quotedLength)
      return " \"\(start)\(start == text ? "" : "...")\""
    }
    switch kind {
    case .say: return "say\(quoted ?? "")"
    case .reply: return "reply\(author.map { " to \($0)" } ?? "")\(quoted ?? "")"
    case .delete: return "delete a \(message)"
    case .timeOut: return "time out \(name) for \(Format.duration(seconds: seconds ?? 0))"
    case .ban: return "ban \(name)"
    case .unban: return "lift the ban of \(name)"
    case .announce: return "announce\(quoted ?? "")"
    case .mark: return "mark the stream\(quoted ?? "")"
    case .setTitle: return "set the title\(quoted ?? "")"
    case .setCategory: return "set the category\(quoted ?? "")"
    case .shoutOut: return "shout out \(name)"
    case .setChatModes: return "change the chat modes"
    case .setShield: return "turn the shield \(on == true ? "on" : "off")"
    case .reviewHeld: return "\(on == true ? "allow" : "refuse") a held \(message)"
    }
  }
}

// MARK: Limits

extension ChatActs: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try check(offers, atMost: Self.maximumOffers, "offers")
    try check(performed, atMost: Self.maximumActs, "performed")
  }
}

extension PerformedAct: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(countable: number, in: "number")
    try check(act, "act")
    try require(names: author, in: "author")
    try require(names: authorID, in: "author")
    if case .refused(let reason)? = outcome { try require(names: reason, in: "outcome") }
  }
}
