import JSON

/// Translates YouTube chats from three origins: yt-dlp's recordings (`.live_chat.json`), made
/// during a stream or afterwards; pytchat's archives; and YouTube's responses to chat requests. All
/// but the responses have one action per line.
///
/// YouTube changes the actions and does not document them. Unknown actions are shown if they have
/// text, and otherwise counted by name.
struct YouTubeChat: Sendable {
  /// The names of actions and items that are dropped. For example, the ticker repeats paid
  /// messages, and a placeholder is replaced by its message.
  private static let ignored: Set<JSONName> = [
    "addLiveChatTickerItemAction", "liveChatPlaceholderItemRenderer",
    "liveChatViewerEngagementMessageRenderer", "removeBannerForLiveChatCommand",
    "clickTrackingParams",
  ]

  private static let position = JSONShape.test {
    JSONValue.object(["position": $0]).position("position") != nil
  }
  private static let replayShape = JSONShape.object([
    "replayChatItemAction": .object([
      "videoOffsetTimeMsec": position, "actions": .list(.object([:])),
    ]),
    "videoOffsetTimeMsec": position,
  ])

  private static let authorShape: [JSONName: JSONShape] = [
    "authorName": YouTubeText.shape, "authorExternalChannelId": .text,
    "authorBadges": .list(
      .object(["liveChatAuthorBadgeRenderer": .object(["icon": .object(["iconType": .text])])])),
  ]
  /// The members to parse in an item of any kind.
  private static let itemShape: JSONShape = {
    var members = authorShape
    for name in wordMembers + ["purchaseAmountText", "headerPrimaryText", "creatorAuthorName"] {
      members[JSONName(name)] = YouTubeText.shape
    }
    members["id"] = .text
    members["timestampUsec"] = .test {
      JSONValue.object(["time": $0]).time(microseconds: "time") != nil
    }
    let label = JSONShape.object(["label": .text])
    members["sticker"] = .object(["accessibility": .object(["accessibilityData": label])])
    let header = authorShape.merging(["primaryText": YouTubeText.shape]) { first, _ in first }
    members["header"] = .object(["liveChatSponsorshipsHeaderRenderer": .object(header)])
    return .object(members)
  }()

  /// The time of the chat minus the position in the video, in milliseconds. Messages have both
  /// times; deletions and pins have only the position.
  private var clock: Int?
  /// The time of the newest message, in milliseconds since 1970.
  private var latest: Int?
  private var poll = YouTubePoll()

  mutating func translate(_ value: JSONValue, into lines: inout NativeLines) {
    if let answer = value["continuationContents"]?["liveChatContinuation"] {
      for action in answer["actions"]?.arrayValue ?? [] { translate(action, into: &lines) }
      return
    }
    guard let replay = value["replayChatItemAction"] else {
      let isAction =
        value.objectValue?.keys.contains {
          $0.text.hasSuffix("Action") || $0.text.hasSuffix("Command")
        } == true
      return isAction ? process(value, nil, &lines) : lines.count(unknown: "no chat action")
    }
    // Replays have the position inside the action. Chats recorded live have the position beside the
    // action.
    let name = "videoOffsetTimeMsec"
    lines.count(misfitsOf: value, Self.replayShape)
    let offset = replay.position(name) ?? value.position(name)
    for action in replay["actions"]?.arrayValue ?? [] { process(action, offset, &lines) }
  }

  private mutating func process(_ action: JSONValue, _ offset: Int?, _ lines: inout NativeLines) {
    for (name, body) in Self.members(action) {
      // An action without a position gets the time of the last message.
      let time = offset.flatMap { offset in clock.map { $0 + offset } } ?? latest
      switch name {
      case "addChatItemAction": item(body["item"], offset, isNew: true, &lines)
      case "replaceChatItemAction": item(body["replacementItem"], offset, isNew: false, &lines)
      case "addBannerToLiveChatCommand":
        banner(body["bannerRenderer"]?["liveChatBannerRenderer"]?["contents"], time, &lines)
      case "removeChatItemAction", "markChatItemAsDeletedAction":
        guard let id = body.text("targetItemId") else {
          lines.count(unknown: name.text)
          continue
        }
        lines.add("chat.delete", room: nil, at: time) { $0.add("id", id.clipped) }
      case "removeChatItemByAuthorAction", "markChatItemsByAuthorAsDeletedAction":
        guard let user = PlatformUser(id: body.text("externalChannelId"), name: nil) else {
          lines.count(unknown: name.text)
          continue
        }
        lines.add("chat.timeout", room: nil, at: time) { $0.add(user: user) }
      case "showLiveChatActionPanelAction", "updateLiveChatPollAction",
        "closeLiveChatActionPanelAction":
        poll.process(name.text, body, time, &lines)
      default: if !Self.ignored.contains(name) { lines.count(unknown: name.text) }
      }
    }
  }

  private static func members(_ value: JSONValue?) -> [(key: JSONName, value: JSONValue)] {
    (value?.objectValue ?? [:]).sorted { $0.key < $1.key }
  }

  // MARK: Items

  private mutating func item(
    _ item: JSONValue?, _ offset: Int?, isNew: Bool, _ lines: inout NativeLines
  ) {
    let members = Self.members(item)
    if members.isEmpty { lines.count(unknown: "chat action without an item") }
    for (name, body) in members where !Self.ignored.contains(name) {
      lines.count(misfitsOf: body, Self.itemShape, named: name.text)
      let written = body.time(microseconds: "timestampUsec")
      if isNew, let written {
        latest = written
        if let offset { clock = written - offset }
      }
      let time = written ?? offset.flatMap { offset in clock.map { $0 + offset } }
      let header = body["header"]?["liveChatSponsorshipsHeaderRenderer"]
      let entry = Entry(body, header, time: time)
      switch name {
      case "liveChatTextMessageRenderer": message(entry, YouTubeText(body["message"]), &lines)
      case "liveChatPaidMessageRenderer", "liveChatPaidStickerRenderer",
        _ where body["purchaseAmountText"] != nil:
        paid(name, body, entry, &lines)
      case "liveChatMembershipItemRenderer":
        let months = YouTubeText(body["headerPrimaryText"]).text.firstNumber
        let words = YouTubeText(body["message"])
        notice(months == nil ? "subscribe" : "resubscribe", entry, months ?? 1, words, &lines)
      case "liveChatSponsorshipsGiftPurchaseAnnouncementRenderer":
        let gifts = YouTubeText(header?["primaryText"]).text.firstNumber
        notice("giftBomb", entry, gifts ?? 1, nil, &lines)
      case "liveChatSponsorshipsGiftRedemptionAnnouncementRenderer":
        // The purchase was already announced. The recipient is a new member.
        notice("subscribe", entry, 1, nil, &lines)
      default:
        let words = Self.words(body)
        if words.isEmpty || entry.user == nil {
          lines.count(unknown: name.text)
        } else {
          message(entry, words, kind: name.text, &lines)
        }
      }
    }
  }

  /// The members that all items share.
  private struct Entry {
    let id: String
    let user: PlatformUser?
    let time: Int?

    init(_ body: JSONValue, _ header: JSONValue?, time: Int?) {
      let owner = header ?? body
      let name = YouTubeText(owner["authorName"]).text
      let badges = (owner["authorBadges"]?.arrayValue ?? []).compactMap { badge -> String? in
        guard let badge = badge["liveChatAuthorBadgeRenderer"] else { return nil }
        return (badge["icon"]?.text("iconType") ?? "MEMBER").lowercased() + "/1"
      }
      let trimmed = name.split(separator: " ").joined(separator: " ")
      user = PlatformUser(
        id: body.text("authorExternalChannelId") ?? header?.text("authorExternalChannelId")
          ?? trimmed, name: trimmed, badges: badges.joined(separator: ","))
      id = body.text("id") ?? "youtube-\(StableHash.hex(body.description))"
      self.time = time
    }
  }

  private func message(
    _ entry: Entry, _ words: YouTubeText, kind: String? = nil, _ lines: inout NativeLines
  ) {
    let text = lines.fitting(words.text)
    lines.add("chat.message", room: nil, at: entry.time) {
      $0.add("id", entry.id.clipped)
      $0.add(user: entry.user ?? .unknown)
      $0.add("text", text)
      $0.add("kind", kind?.clipped)
      $0.add(emotes: words.emotes)
    }
  }

  private func notice(
    _ kind: String, _ entry: Entry, _ count: Int, _ words: YouTubeText?, _ lines: inout NativeLines
  ) {
    let text = lines.fitting(words?.text ?? "")
    lines.add("chat.notice", room: nil, at: entry.time) {
      $0.add("id", entry.id.clipped)
      $0.add("kind", kind)
      $0.add(user: entry.user ?? .unknown)
      $0.add("count", count)
      guard let words, !words.isEmpty else { return }
      $0.add("text", text)
      $0.add(emotes: words.emotes)
    }
  }

  /// Adds a paid message. Amounts are in many currencies, so the announcement quotes YouTube's
  /// text.
  private func paid(
    _ name: JSONName, _ body: JSONValue, _ entry: Entry, _ lines: inout NativeLines
  ) {
    let words = YouTubeText(body["message"])
    if !words.isEmpty { message(entry, words, &lines) }
    let sticker = body["sticker"]?["accessibility"]?["accessibilityData"]?.text("label")
    let isSticker = sticker != nil || name == "liveChatPaidStickerRenderer"
    let product = isSticker ? "Super Sticker" : "Super Chat"
    let amount = YouTubeText(body["purchaseAmountText"]).text
    let text = lines.fitting(
      ["\(product) \(amount)", sticker].compactMap(\.self).joined(separator: ": "))
    lines.add("announcement", room: nil, at: entry.time) {
      // The suffix distinguishes the announcement from the message, whose identifier has no suffix.
      $0.add("id", "\(entry.id)/paid".clipped)
      $0.add(user: entry.user ?? .unknown)
      $0.add("text", text)
    }
  }

  /// The members that may contain the text of an item of an unknown kind.
  private static let wordMembers = [
    "message", "text", "bannerMessage", "questionMessage", "subtext",
  ]

  private static func words(_ body: JSONValue) -> YouTubeText {
    YouTubeText(joining: wordMembers.map { YouTubeText(body[$0]) }.filter { !$0.isEmpty })
  }

  private func banner(_ contents: JSONValue?, _ time: Int?, _ lines: inout NativeLines) {
    let members = Self.members(contents)
    if members.isEmpty { lines.count(unknown: "banner without contents") }
    for (name, body) in members {
      lines.count(misfitsOf: body, Self.itemShape, named: name.text)
      let words = Self.words(body)
      guard !words.isEmpty else {
        lines.count(unknown: name.text)
        continue
      }
      // The banner appears now, although its message may be older.
      let entry = Entry(body, nil, time: time ?? body.time(microseconds: "timestampUsec"))
      let creator = YouTubeText(body["creatorAuthorName"]).text
      let user = entry.user ?? PlatformUser(id: creator, name: creator)
      let text = lines.fitting(words.text)
      lines.add("announcement", room: nil, at: entry.time) {
        $0.add("id", "\(entry.id)/pinned".clipped)
        if let user { $0.add(user: user) }
        $0.add("text", text)
        $0.add(emotes: words.emotes)
      }
    }
  }
}

extension JSONValue {
  /// Returns the position in the video in milliseconds, which is negative before the video's
  /// beginning.
  fileprivate func position(_ name: String) -> Int? {
    anyText(name).flatMap { Int($0) }.flatMap { $0.magnitude < 1 << 50 ? $0 : nil }
  }

  /// Returns the time in milliseconds of a member in microseconds, written as text or as a number.
  fileprivate func time(microseconds name: String) -> Int? {
    anyText(name).flatMap { Int($0) }.flatMap { (1..<(1 << 60)).contains($0) ? $0 / 1_000 : nil }
  }
}
