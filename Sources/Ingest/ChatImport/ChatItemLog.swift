import JSON

/// Translates the chats of chat-downloader and pytchat: one JSON object per message. The objects
/// are in a single array, on separate lines, or in one array per line.
struct ChatItemLog: Sendable {
  private var elements = JSONArrayReader()
  private var number = 0

  /// The kinds of ordinary messages.
  private static let plain: Set<String> = [
    "text_message", "textMessage", "message", "highlighted_message",
    "send_message_in_subscriber_only_mode",
  ]
  /// The kinds that are dropped: placeholders for later messages, YouTube's own hints, and the
  /// removal of a pin.
  private static let silent: Set<String> = [
    "placeholder_item", "viewer_engagement_message", "remove_banner",
  ]
  private static let deletions: Set<String> = ["deleted_message", "delete_message"]
  /// The kinds that become notices, with the member that contains the count.
  private static let notices: [String: (kind: String, count: String?)] = [
    "subscription": ("subscribe", "cumulative_months"),
    "prime_paid_upgrade": ("subscribe", nil), "gift_paid_upgrade": ("subscribe", nil),
    "anonymous_gift_paid_upgrade": ("subscribe", nil),
    "resubscription": ("resubscribe", "cumulative_months"),
    "subscription_gift": ("gift", nil), "anonymous_subscription_gift": ("gift", nil),
    "mystery_subscription_gift": ("giftBomb", "mass_gift_count"),
    "anonymous_mystery_subscription_gift": ("giftBomb", "mass_gift_count"),
    "raid": ("raid", "number_of_raiders"),
    "membership_item": ("subscribe", nil), "newSponsor": ("subscribe", nil),
    "sponsorships_gift_purchase_announcement": ("giftBomb", nil),
    "sponsorships_gift_redemption_announcement": ("subscribe", nil),
  ]

  mutating func receive(_ piece: UnsafeRawBufferPointer, into lines: inout NativeLines) {
    var elements = JSONArrayReader()
    swap(&elements, &self.elements)
    elements.receive(piece, into: &lines) { item, lines in
      number += 1
      Item(item, number, &lines).translate(into: &lines)
    }
    self.elements = elements
  }

  private struct Item {
    private let item: JSONValue
    private let kind: String?
    private let user: PlatformUser?
    private let text: String
    private let time: Int?
    private let bits: Int
    private let id: String

    init(_ item: JSONValue, _ number: Int, _ lines: inout NativeLines) {
      self.item = item
      kind = item.word("message_type") ?? item.word("type")
      user = Self.user(item)
      text = lines.fitting(item["message"]?.stringValue ?? "")
      time = Self.time(item["timestamp"]) ?? item.time("datetime", orUTC: true)
      bits = item.count("bits") ?? 0
      lines.count(misfitsOf: item, Self.shape)
      id =
        item.anyText("message_id") ?? item.anyText("id")
        ?? "message-\(number)-\(StableHash.hex(item.description))"
    }

    private static let shape = JSONShape.object([
      "message_type": .text, "type": .text, "action_type": .text, "message": .text,
      "message_id": .identifier, "id": .identifier, "target_message_id": .identifier,
      "timestamp": .test { time($0) != nil }, "datetime": .timeOrUTC,
      "bits": .count, "cumulative_months": .count, "mass_gift_count": .count,
      "number_of_raiders": .count, "ban_duration": .count, "header_primary_text": .text,
      "author": .orText(
        .object([
          "id": .identifier, "channelId": .text, "name": .text, "display_name": .text,
          "colour": .color,
          "badges": .list(
            .object([
              "icon_name": .text, "name": .text, "title": .text, "version": .identifier,
            ])),
          "isChatOwner": .truth, "isChatModerator": .truth, "isChatSponsor": .truth,
          "isVerified": .truth,
        ])),
      "author_id": .identifier, "author_name": .text, "author_display_name": .text,
      "colour": .color,
      "banned_user": .text, "target_author_id": .identifier,
      "money": .object(["text": .text, "amount": .number, "currency": .text]),
      "amountString": .text, "amount": .text, "amountValue": .number, "currency": .text,
      "in_reply_to": .object(["message_id": .identifier]),
      "emotes": .list(
        .object([
          "locations": .test {
            ($0.arrayValue != nil || $0.stringValue != nil) && !locations($0).contains(nil)
          }
        ])),
    ])

    private static func user(_ item: JSONValue) -> PlatformUser? {
      let author = item["author"]
      let login = author?.text("name") ?? item.text("author") ?? item.text("author_name")
      let name = author?.text("display_name") ?? item.text("author_display_name") ?? login
      let id = author?.anyText("id") ?? author?.text("channelId") ?? item.anyText("author_id")
      return PlatformUser(
        id: id ?? login ?? name, name: name, badges: badges(author).joined(separator: ","),
        color: author?.text("colour") ?? item.text("colour"))
    }

    private static func badges(_ author: JSONValue?) -> [String] {
      let listed = (author?["badges"]?.arrayValue ?? []).compactMap { badge -> String? in
        let name = badge.text("icon_name") ?? badge.text("name") ?? badge.text("title")
        return name.map { "\($0.lowercased())/\(badge.anyText("version") ?? "1")" }
      }
      let flags = [
        ("isChatOwner", "owner/1"), ("isChatModerator", "moderator/1"),
        ("isChatSponsor", "member/1"), ("isVerified", "verified/1"),
      ]
      return listed + flags.filter { author?[$0.0]?.boolValue == true }.map(\.1)
    }

    /// Returns a time in milliseconds since 1970. Reads microseconds, milliseconds or seconds since
    /// 1970, or a date and time. A time without a zone is UTC.
    private static func time(_ value: JSONValue?) -> Int? {
      // Some programs write the time as text.
      let number = value?.looseNumber.map { JSONValue.number($0) }
      let item = JSONValue.object(["time": number ?? value ?? .null])
      if let number = item.milliseconds("time") {
        switch number {
        case 100_000_000_000_000_000...: return number / 1_000_000
        case 100_000_000_000_000...: return number / 1_000
        case 1_000_000_000...: return number
        default: break
        }
      }
      return item.time("time", orUTC: true)
    }

    func translate(into lines: inout NativeLines) {
      lines.platform = platform ?? lines.platform
      let action = item.word("action_type") ?? ""
      let isTicker = kind?.hasPrefix("ticker_") == true || item["ticker_duration"] != nil
      if isTicker || ChatItemLog.silent.contains(kind ?? "") { return }
      if ChatItemLog.deletions.contains(kind ?? "") || action.hasPrefix("mark_chat_item_as_deleted")
        || action == "remove_chat_item"
      {
        guard let target = item.anyText("target_message_id") else {
          return lines.count(unknown: kind ?? action)
        }
        lines.add("chat.delete", room: nil, at: time) { $0.add("id", target.clipped) }
      } else if kind == "ban_user" || action.hasPrefix("mark_chat_items_by_author") {
        ban(&lines)
      } else if kind == "clear_chat" || action == "clear_chat" {
        lines.add("chat.clear", room: nil, at: time) { _ in }
      } else if let amount {
        paid(amount, &lines)
      } else if let notice = ChatItemLog.notices[kind ?? ""], let user {
        // Milestones of members and gifts have a heading, such as `Member for 6 months` or `Sent 5
        // Club gift memberships`.
        let heading = item.text("header_primary_text")
        let count = heading?.amountInWords ?? notice.count.flatMap { item.count($0) }
        let isMilestone = kind == "membership_item" && count != nil
        self.notice(isMilestone ? "resubscribe" : notice.kind, count, user, &lines)
      } else if !text.isEmpty, user != nil || ChatItemLog.plain.contains(kind ?? "text_message") {
        // Twitch names no author for deleted accounts.
        message(user ?? .unknown, &lines)
      } else {
        lines.count(unknown: kind ?? (action.isEmpty ? "no author or no message" : action))
      }
    }

    /// The platform, recognised by the form of the author's identifier. `nil` if there is no
    /// author, for example in deletions.
    private var platform: String? {
      guard let id = user?.id else { return nil }
      if id.hasPrefix("UC"), id != user?.name { return "youtube" }
      return id.allSatisfy(\.isWholeNumber) ? "twitch" : nil
    }

    private func ban(_ lines: inout NativeLines) {
      let name = item.text("banned_user")
      let target = PlatformUser(id: item.anyText("target_author_id") ?? name, name: name) ?? user
      guard let target else { return lines.count(unknown: "ban_user") }
      lines.add("chat.timeout", room: nil, at: time) {
        $0.add(user: target)
        $0.add("seconds", item.count("ban_duration"))
      }
    }

    private var amount: String? {
      func number(_ value: JSONValue?, _ currency: String?) -> String? {
        guard let number = value?.looseNumber, number > 0 else { return nil }
        return [number.description, currency].compactMap(\.self).joined(separator: " ")
      }
      let money = item["money"]
      return money?.text("text") ?? number(money?["amount"], money?.text("currency"))
        ?? item.text("amountString") ?? item.text("amount")
        ?? number(item["amountValue"], item.text("currency"))
    }

    private func message(_ user: PlatformUser, _ lines: inout NativeLines) {
      let isPinned =
        kind == "banner" || item.word("action_type") == "add_banner_to_live_chat_command"
      lines.add(isPinned ? "announcement" : "chat.message", room: nil, at: time) {
        $0.add("id", (isPinned ? id + "/pinned" : id).clipped)
        $0.add(user: user)
        $0.add("text", text)
        if isPinned { return $0.add(emotes: emotes) }
        if let kind, !ChatItemLog.plain.contains(kind), amount == nil {
          $0.add("kind", kind.clipped)
        }
        $0.add("replyTo", item["in_reply_to"]?.anyText("message_id")?.clipped)
        if bits > 0 { $0.add("bits", bits) }
        $0.add(emotes: emotes)
      }
    }

    /// Adds a paid message. Amounts are in many currencies, so the announcement quotes the
    /// platform's text.
    private func paid(_ amount: String, _ lines: inout NativeLines) {
      let user = user ?? .unknown
      let isSticker = kind == "paid_sticker" || kind == "superSticker"
      if !text.isEmpty { message(user, &lines) }
      lines.add("announcement", room: nil, at: time) {
        $0.add("id", "\(id)/paid".clipped)
        $0.add(user: user)
        $0.add("text", "\(isSticker ? "Super Sticker" : "Super Chat") \(amount.clipped)")
      }
    }

    private func notice(
      _ kind: String, _ count: Int?, _ user: PlatformUser, _ lines: inout NativeLines
    ) {
      // YouTube, not the person, wrote the text of welcome notices and of gift bombs that have no
      // count.
      let isGift = kind == "giftBomb" && count == nil
      let isPlatform = isGift || kind == "subscribe" && text.hasPrefix("Welcome to ")
      lines.add("chat.notice", room: nil, at: time) {
        $0.add("id", id.clipped)
        $0.add("kind", kind)
        $0.add(user: user)
        $0.add("count", count ?? (isGift ? text.firstNumber : nil) ?? 1)
        guard !isPlatform, !text.isEmpty else { return }
        $0.add("text", text)
        $0.add(emotes: emotes)
      }
    }

    /// The positions of Twitch emotes in the text, written as `0-4,12-16` with inclusive ends.
    private var emotes: [Int] {
      (item["emotes"]?.arrayValue ?? []).flatMap { emote in
        Self.locations(emote["locations"]).flatMap { $0 ?? [] }
      }
    }

    /// Returns the positions of an emote, given as a list or separated by commas. A malformed
    /// position is `nil`.
    private static func locations(_ value: JSONValue?) -> [[Int]?] {
      let listed = value?.arrayValue?.map { $0.stringValue ?? "" }
      let locations = listed ?? value?.stringValue?.split(separator: ",").map(String.init) ?? []
      return locations.map { place in
        let ends = place.split(separator: "-").compactMap { Int($0) }
        guard ends.count == 2, 0 <= ends[0], ends[0] <= ends[1] else { return nil }
        return [ends[0], ends[1] + 1]
      }
    }
  }
}
