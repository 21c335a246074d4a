package import JSON
import LiveEvents

/// A message of Social Stream Ninja in the words of a room. Which member means what: its "API" and "Live Event
/// Reference".
package enum SocialStreamMessage {
  /// Adds the native lines of a message.
  ///
  /// - Parameters:
  ///   - room: the room of the lines; `nil` leaves it open.
  ///   - time: when it came, in milliseconds since 1970.
  ///   - identifier: that of the message, which must be another one for each message.
  package static func translate(
    _ message: JSONValue, room: String?, at time: Int, identifier: String,
    into lines: inout NativeLines
  ) {
    // Commands of its other parts use the same channels.
    guard message.text("action") == nil, message["private"]?.boolValue != true else { return }
    let event = message["event"]?.stringValue?.clipped(to: 64).lowercased() ?? ""
    let platform = message.text("type") ?? ""
    if event == "viewer_update" {
      guard let count = viewers(message["meta"]) else { return }
      return lines.add("viewers", room: room, at: time) {
        $0.add("count", count)
        if !platform.isEmpty { $0.add("platform", platform.clipped) }
      }
    }
    guard let name = message.text("chatname") else {
      if !event.isEmpty { lines.note(unknown: event) }
      return
    }
    let plain = HTMLText.plain(name)
    let user = PlatformUser(
      id: "\(platform)/\(message.text("userid") ?? plain)", name: plain, badges: badges(message))
    guard let user else { return }
    let text = text(message)
    func add(_ type: String, _ body: (inout JSONWriter) -> Void) {
      lines.add(type, room: room, at: time) {
        $0.add("id", identifier.clipped)
        $0.add(user: user)
        body(&$0)
        if !platform.isEmpty { $0.add("platform", platform.clipped) }
      }
    }
    func notice(_ kind: String, _ count: Int) {
      add("chat.notice") {
        $0.add("kind", kind)
        $0.add("count", count)
      }
    }
    let amount = amount(message)
    switch event {
    case "follow", "new_follower", "followed": add("follow") { _ in }
    case "raid", "host", "hosting": notice("raid", amount ?? 0)
    case "new_subscriber", "subscriber", "subscription", "sponsorship", "membership":
      notice("subscribe", 1)
    case "resub", "resubscription", "membermilestone", "subscription_renewal":
      notice("resubscribe", amount ?? 1)
    case "subscription_gift", "gifted", "giftpurchase", "community_gift":
      notice("giftBomb", amount ?? 1)
    case "cheer", "bits": notice("cheer", amount ?? 0)
    case "", "donation", "superchat", "supersticker", "jeweldonation":
      // Money is of many currencies, so it is told in the words of the platform.
      if let donation = message.text("hasDonation") {
        add("announcement") {
          $0.add(
            "text", [HTMLText.plain(donation), text].filter { !$0.isEmpty }.joined(separator: ": "))
        }
      } else if !text.isEmpty {
        add("chat.message") { $0.add("text", text) }
      }
    default: lines.note(unknown: event)
    }
  }

  private static func text(_ message: JSONValue) -> String {
    let text = message["chatmessage"]?.stringValue ?? ""
    // Far longer than a message of any platform, and short enough for a line.
    return (message["textonly"]?.boolValue == true ? text : HTMLText.plain(text)).clipped(to: 8192)
  }

  private static func viewers(_ meta: JSONValue?) -> Int? {
    guard let meta else { return nil }
    return JSONValue.object(["count": meta]).count("count") ?? meta.count("viewers")
      ?? meta.count("count")
  }

  /// What an event is about: people who come along, months, gifts, bits.
  private static func amount(_ message: JSONValue) -> Int? {
    let meta = message["meta"]
    let names = ["viewers", "amount", "count", "total", "months", "bits", "quantity"]
    for name in names {
      if let count = meta?.count(name) { return count }
    }
    return (message.text("hasDonation") ?? message.text("subtitle"))?.firstNumber
      .map { min($0, EventLimits.count.upperBound) }
  }

  private static func badges(_ message: JSONValue) -> String {
    var badges: [String] = []
    if message["admin"]?.boolValue == true { badges.append("broadcaster/1") }
    if message["moderator"]?.boolValue == true { badges.append("moderator/1") }
    if message.text("membership") != nil { badges.append("subscriber/1") }
    return badges.joined(separator: ",")
  }
}
