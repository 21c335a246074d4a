/// Phrases that appear both on a room's screen and in the output of commands.
package enum Phrase {
  /// Returns the text of a notice in a chat. An unknown `kind` is shown unchanged. `count` is the
  /// number of gifts, months, viewers or bits; the host pins the notice by its `number`.
  package static func notice(
    kind: String, name: String, count: Int, number: Int, isPinned: Bool
  ) -> String {
    let text = deed(kind, by: name.isEmpty ? "someone" : name, count)
    return "notice \(number): \(text)\(isPinned ? " (pinned)" : "")"
  }

  /// Returns a sentence about what a user did, by the kind of a notice.
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

  /// - Parameter capacity: The maximum number of admitted people; `nil` for no limit.
  package static func admitted(_ count: Int, of capacity: Int? = nil) -> String {
    let limit = capacity.map { " of \(Format.count($0))" } ?? ""
    return "\(Format.count(count))\(limit) admitted"
  }

  /// Returns the rate at which people are admitted automatically.
  package static func pace(_ perSecond: Double) -> String {
    perSecond < 1 ? "one in \(Format.rate(1 / perSecond)) s" : "\(Format.rate(perSecond))/s"
  }

  /// Returns the time until the stream begins.
  package static func begins(inSeconds seconds: Int) -> String {
    "begins in \(Format.duration(seconds: seconds))"
  }

  /// Returns the numbers of a room's events by outcome, in the longest form that fits the available
  /// width: `fits` returns whether a text is short enough.
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
