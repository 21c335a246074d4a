import JSON

/// YouTube's chat as yt-dlp records it (`.live_chat.json`), of streams that are live and of those that were.
///
/// Each line has the actions of one moment. What they mean is nowhere documented and changes, so unknown ones
/// are counted by name.
enum YouTubeChat {
  /// What is known and says nothing: the ticker repeats paid messages, the others are of YouTube itself.
  private static let ignored: Set<JSONName> = [
    "addLiveChatTickerItemAction", "liveChatPlaceholderItemRenderer",
    "liveChatViewerEngagementMessageRenderer", "liveChatModeChangeMessageRenderer",
    "removeBannerForLiveChatCommand", "closeLiveChatActionPanelAction",
    "showLiveChatActionPanelAction", "updateLiveChatPollAction", "clickTrackingParams",
  ]

  static func translate(_ line: [UInt8], into lines: inout NativeLines) {
    guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x0D }) else { return }
    guard let value = try? JSONValue(parsing: line) else { return lines.note(unknown: "malformed") }
    guard let replay = value["replayChatItemAction"] else {
      return lines.note(unknown: "no chat action")
    }
    // Inside in a replay, beside it in a chat that was live.
    let offset = replay.count("videoOffsetTimeMsec") ?? value.count("videoOffsetTimeMsec")
    for action in replay["actions"]?.arrayValue ?? [] { take(action, offset, &lines) }
  }

  private static func take(_ action: JSONValue, _ offset: Int?, _ lines: inout NativeLines) {
    for (name, body) in members(action) {
      switch name {
      case "addChatItemAction": item(body["item"], offset, &lines)
      case "replaceChatItemAction": item(body["replacementItem"], offset, &lines)
      case "addBannerToLiveChatCommand":
        banner(body["bannerRenderer"]?["liveChatBannerRenderer"]?["contents"], offset, &lines)
      case "removeChatItemAction", "markChatItemAsDeletedAction":
        guard let id = body.text("targetItemId") else { continue }
        lines.add("chat.delete", room: nil, at: offset) { $0.add("id", id.clipped) }
      case "removeChatItemByAuthorAction", "markChatItemsByAuthorAsDeletedAction":
        guard let user = PlatformUser(id: body.text("externalChannelId"), name: nil) else {
          continue
        }
        lines.add("chat.timeout", room: nil, at: offset) { $0.add(user: user) }
      default: if !ignored.contains(name) { lines.note(unknown: name.text) }
      }
    }
  }

  private static func members(_ value: JSONValue?) -> [(key: JSONName, value: JSONValue)] {
    (value?.objectValue ?? [:]).sorted { $0.key < $1.key }
  }

  // MARK: Items

  private static func item(_ item: JSONValue?, _ offset: Int?, _ lines: inout NativeLines) {
    for (name, body) in members(item) {
      let time = body.time(microseconds: "timestampUsec") ?? offset
      guard let id = body.text("id") else {
        if !ignored.contains(name) { lines.note(unknown: name.text) }
        continue
      }
      let author = user(body)
      switch (name, author) {
      case ("liveChatTextMessageRenderer", let author?):
        message(id, author, text(body["message"]), time, &lines)
      case ("liveChatPaidMessageRenderer", let author?):
        let words = text(body["message"])
        if !words.isEmpty { message(id, author, words, time, &lines) }
        paid("Super Chat", id, author, body["purchaseAmountText"], time, &lines)
      case ("liveChatPaidStickerRenderer", let author?):
        paid("Super Sticker", id, author, body["purchaseAmountText"], time, &lines)
      case ("liveChatMembershipItemRenderer", let author?):
        let months = text(body["headerPrimaryText"]).firstNumber
        notice(months == nil ? "subscribe" : "resubscribe", id, author, months ?? 1, time, &lines)
      case ("liveChatSponsorshipsGiftPurchaseAnnouncementRenderer", _):
        let header = body["header"]?["liveChatSponsorshipsHeaderRenderer"] ?? .null
        guard
          let giver = PlatformUser(
            id: body.text("authorExternalChannelId"), name: text(header["authorName"]))
        else { return lines.note(unknown: name.text) }
        notice("giftBomb", id, giver, text(header["primaryText"]).firstNumber ?? 1, time, &lines)
      case ("liveChatSponsorshipsGiftRedemptionAnnouncementRenderer", let author?):
        // The giver was told with all the gifts; who has one is a member now.
        notice("subscribe", id, author, 1, time, &lines)
      default: if !ignored.contains(name) { lines.note(unknown: name.text) }
      }
    }
  }

  private static func message(
    _ id: String, _ user: PlatformUser, _ text: String, _ time: Int?, _ lines: inout NativeLines
  ) {
    lines.add("chat.message", room: nil, at: time) {
      $0.add("id", id.clipped)
      $0.add(user: user)
      $0.add("text", text)
    }
  }

  private static func notice(
    _ kind: String, _ id: String, _ user: PlatformUser, _ count: Int, _ time: Int?,
    _ lines: inout NativeLines
  ) {
    lines.add("chat.notice", room: nil, at: time) {
      $0.add("id", id.clipped)
      $0.add("kind", kind)
      $0.add(user: user)
      $0.add("count", count)
    }
  }

  /// Money is of many currencies, so it is told in the words of YouTube.
  private static func paid(
    _ what: String, _ id: String, _ user: PlatformUser, _ amount: JSONValue?, _ time: Int?,
    _ lines: inout NativeLines
  ) {
    lines.add("announcement", room: nil, at: time) {
      // Its message has the identifier itself.
      $0.add("id", "\(id)/paid".clipped)
      $0.add(user: user)
      $0.add("text", "\(what) \(text(amount))")
    }
  }

  private static func banner(
    _ contents: JSONValue?, _ offset: Int?, _ lines: inout NativeLines
  ) {
    for (name, body) in members(contents) {
      guard name == "liveChatTextMessageRenderer", let author = user(body) else {
        lines.note(unknown: name.text)
        continue
      }
      // It is shown from now on, whenever it was written.
      lines.add("announcement", room: nil, at: offset ?? body.time(microseconds: "timestampUsec")) {
        $0.add("id", "\(body.text("id") ?? "")/pinned".clipped)
        $0.add(user: author)
        $0.add("text", text(body["message"]))
      }
    }
  }

  private static func user(_ body: JSONValue) -> PlatformUser? {
    let badges = (body["authorBadges"]?.arrayValue ?? []).compactMap { badge -> String? in
      guard let badge = badge["liveChatAuthorBadgeRenderer"] else { return nil }
      return (badge["icon"]?.text("iconType") ?? "MEMBER").lowercased() + "/1"
    }
    return PlatformUser(
      id: body.text("authorExternalChannelId"), name: text(body["authorName"]),
      badges: badges.joined(separator: ","))
  }

  /// Text, whole or in runs of words and emoji.
  private static func text(_ value: JSONValue?) -> String {
    if let text = value?["simpleText"]?.stringValue { return text }
    return (value?["runs"]?.arrayValue ?? []).map { run in
      if let text = run["text"]?.stringValue { return text }
      let emoji = run["emoji"]
      // An emoji of Unicode is its own identifier; those of a channel have a name to type.
      if emoji?["isCustomEmoji"]?.boolValue == true {
        return emoji?["shortcuts"]?.arrayValue?.first?.stringValue ?? ""
      }
      return emoji?["emojiId"]?.stringValue ?? ""
    }.joined()
  }
}

extension JSONValue {
  /// A point in time that is written in microseconds, as text, in milliseconds.
  fileprivate func time(microseconds name: String) -> Int? {
    self[name]?.stringValue.flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 / 1_000 : nil }
  }
}
