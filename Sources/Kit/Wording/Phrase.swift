/// Phrases that appear both on a room's screen and in what commands print.
package enum Phrase {
  /// A notice of a chat.
  ///
  /// - Parameters:
  ///   - kind: as events name it; one that is not known is shown as it is.
  ///   - count: gifts, months, viewers or bits.
  ///   - number: what the host names to pin it.
  package static func notice(
    kind: String, name: String, count: Int, number: Int, isPinned: Bool
  ) -> String {
    let text = deed(kind, by: name.isEmpty ? "someone" : name, count)
    return "notice \(number): \(text)\(isPinned ? " (pinned)" : "")"
  }

  /// What somebody did, by the kind of a notice.
  package static func deed(_ kind: String, by name: String, _ count: Int) -> String {
    switch kind {
    case "subscribe": "\(name) subscribed"
    case "resubscribe": "\(name) subscribed for \(Format.count(count, "month"))"
    case "gift": "\(name) gave a subscription"
    case "giftBomb": "\(name) gave \(Format.count(count, "subscription"))"
    case "raid": "\(name) raids with \(Format.count(count, "viewer"))"
    case "cheer": "\(name) cheers \(Format.count(count))"
    default: "\(name): \(kind), \(Format.count(count))"
    }
  }

  package static func waiting(_ count: Int) -> String { "\(Format.count(count)) waiting" }

  /// - Parameter capacity: how many are let in at most; `nil` for no limit.
  package static func admitted(_ count: Int, of capacity: Int? = nil) -> String {
    let limit = capacity.map { " of \(Format.count($0))" } ?? ""
    return "\(Format.count(count))\(limit) admitted"
  }

  /// How fast people are let in by themselves.
  package static func pace(_ perSecond: Double) -> String {
    perSecond < 1 ? "one in \(Format.rate(1 / perSecond)) s" : "\(Format.rate(perSecond))/s"
  }

  /// When the stream begins.
  package static func begins(inSeconds seconds: Int) -> String {
    "begins in \(Format.duration(seconds: seconds))"
  }

  /// Where the events of a room went, in as much detail as a width allows.
  ///
  /// - Parameter fits: whether a text is short enough.
  package static func events(
    received: Int, applied: Int, coalesced: Int, rejected: Int, pending: Int,
    fits: (String) -> Bool
  ) -> String {
    let events = Format.count(received, "event")
    let forms = [
      "\(events) = \(Format.count(applied)) applied + \(Format.count(coalesced)) coalesced "
        + "+ \(Format.count(rejected)) rejected + \(Format.count(pending)) pending",
      "\(events), \(Format.count(rejected)) rejected, \(Format.count(pending)) pending",
      events,
    ]
    return forms.first(where: fits) ?? ""
  }
}
