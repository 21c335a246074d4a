package import JSON
package import LiveEvents

/// Translates notifications of Twitch's EventSub into native lines. The members are documented in
/// Twitch's "EventSub Subscription Types".
package enum EventSub {
  package struct Notification: Equatable, Sendable {
    /// The type of the subscription, such as `channel.follow`.
    package var type: String
    package var event: JSONValue
    /// The time at which Twitch sent the notification, in milliseconds since 1970.
    package var time: Int?
    /// The identifier of the notification. Twitch may send a notification repeatedly, and most
    /// kinds have no other identifier.
    package var id: String?

    package init(type: String, event: JSONValue, time: Int?, id: String? = nil) {
      self.type = type
      self.event = event
      self.time = time
      self.id = id
    }
  }

  /// Adds the native lines of a notification. `room` is the room of the channel being read; `nil`
  /// selects the room of the channel that the event names.
  package static func translate(
    _ notification: Notification, room: RoomName? = nil, into lines: inout NativeLines
  ) {
    let event = notification.event
    var context = Context(
      event: event, time: notification.time, notification: notification.id,
      room: room?.description
        ?? (event.text("broadcaster_user_login") ?? event.text("to_broadcaster_user_login"))?
        .channelRoom)
    switch notification.type {
    case "channel.chat.message": context.message(&lines)
    case "channel.chat.notification": context.chatNotice(&lines)
    case "channel.chat.clear": context.add("chat.clear", &lines) { _ in }
    case "channel.chat.clear_user_messages":
      context.timeout("target_user", &lines)
    case "channel.chat.message_delete":
      context.deletion(&lines)
    case "channel.ban": context.timeout("user", until: event.time("ends_at"), &lines)
    case "channel.moderate": context.moderation(&lines)
    case "channel.chat_settings.update": context.modes(&lines)
    case "channel.follow":
      let user = context.user("user") ?? .unknown
      context.time = event.time("followed_at") ?? context.time
      context.add("follow", &lines) {
        $0.add("id", "follow/\(user.id)/\(context.time ?? 0)".clipped)
        $0.add(user: user)
      }
    case "channel.subscribe":
      // The giver's own notification announces the gift.
      guard event["is_gift"]?.boolValue != true else { break }
      context.notice("subscribe", by: context.user("user"), count: 1, &lines)
    case "channel.subscription.message":
      context.notice(
        "resubscribe", by: context.user("user"), count: event.count("cumulative_months") ?? 1,
        words: PlatformWords(event["message"]), &lines)
    case "channel.subscription.gift":
      context.notice(
        "giftBomb", by: context.giver("user"), count: event.count("total") ?? 1, &lines)
    case "channel.cheer":
      context.notice(
        "cheer", by: context.giver("user"), count: event.count("bits") ?? 0,
        words: event.text("message").map { PlatformWords(text: $0) }, &lines)
    case "channel.bits.use":
      context.notice(
        "cheer", by: context.user("user"), count: event.count("bits") ?? 0,
        words: PlatformWords(event["message"]), &lines)
    case "channel.raid":
      context.notice(
        "raid", by: context.user("from_broadcaster_user"), count: event.count("viewers") ?? 0,
        &lines)
    case "channel.hype_train.begin": context.hypeTrain("begin", &lines)
    case "channel.hype_train.progress": context.hypeTrain("progress", &lines)
    case "channel.hype_train.end": context.hypeTrain("end", &lines)
    case "channel.poll.begin", "channel.poll.progress", "channel.poll.end":
      context.poll(
        isBegin: notification.type.hasSuffix("begin"), isEnd: notification.type.hasSuffix("end"),
        &lines)
    case "channel.prediction.begin", "channel.prediction.progress":
      context.prediction("open", &lines)
    case "channel.prediction.lock": context.prediction("locked", &lines)
    case "channel.prediction.end":
      context.prediction(
        event.word("status")?.lowercased() == "resolved" ? "resolved" : "cancelled", &lines)
    case "channel.channel_points_custom_reward_redemption.add",
      "channel.channel_points_automatic_reward_redemption.add",
      "channel.custom_power_up_redemption.add":
      context.redemption(&lines)
    case "channel.charity_campaign.donate": context.donation(&lines)
    case "channel.goal.begin", "channel.goal.progress", "channel.goal.end": context.goal(&lines)
    case "stream.online":
      context.time = event.time("started_at") ?? context.time
      context.add("stream", &lines) { $0.add("state", "live") }
    case "stream.offline": context.add("stream", &lines) { $0.add("state", "ended") }
    case "channel.update":
      if let title = event.text("title") {
        context.add("title", &lines) { $0.add(title: title, upTo: EventLimits.titleLength) }
      }
      if let category = event.text("category_name") {
        context.add("category", &lines) { $0.add(title: category) }
      }
    // Messages of a shared chat name their channel, so these notifications are not needed.
    case "channel.shared_chat.begin", "channel.shared_chat.update", "channel.shared_chat.end": break
    default: lines.count(unknown: notification.type)
    }
    lines.count(misfitsOf: event, shape, named: "event")
  }

  private struct Context {
    var event: JSONValue
    var time: Int?
    let notification: String?
    let room: String?

    func add(_ type: String, _ lines: inout NativeLines, _ body: (inout NativeLine) -> Void) {
      lines.add(type, room: room, at: time, body)
    }

    /// Returns the person described by the members whose names begin with a prefix. If the
    /// identifier is missing, the name replaces it.
    func user(_ prefix: String, badges: String = "", color: String? = nil) -> PlatformUser? {
      let name = name(prefix)
      return PlatformUser(
        id: event.anyText(prefix + "_id") ?? name, name: name, badges: badges, color: color)
    }

    private func name(_ prefix: String) -> String? {
      event.text(prefix + "_name") ?? event.text(prefix + "_login")
    }

    /// Returns the giver, or Twitch's account for anonymous givers if the notification names
    /// nobody.
    func giver(_ prefix: String) -> PlatformUser? {
      user(prefix) ?? PlatformUser(id: "274598607", name: "AnAnonymousGifter")
    }

    func notice(
      _ kind: String, by user: PlatformUser?, count: Int, group: String? = nil,
      words: PlatformWords? = nil, _ lines: inout NativeLines
    ) {
      let fitting = words.map { lines.fitting($0) }
      add("chat.notice", &lines) {
        $0.add("id", identifier?.clipped)
        $0.add("kind", kind)
        $0.add(user: user ?? .unknown)
        $0.add("count", count)
        $0.add("group", group?.clipped)
        if let fitting { $0.add(words: fitting) }
      }
    }

    private var identifier: String? { event.anyText("message_id") ?? notification }
    /// The identifier of the message, generated if the notification has none.
    private var messageIdentifier: String {
      (identifier ?? "eventsub-" + StableHash.hex(event.description)).clipped
    }

    private var badges: String {
      (event["badges"]?.arrayValue ?? []).compactMap { badge in
        badge.text("set_id").map { "\($0)/\(badge.text("id") ?? "1")" }
      }.joined(separator: ",")
    }

    /// Whether the message was written in another channel of a shared chat.
    private var isShared: Bool {
      guard let source = event.word("source_broadcaster_user_id") else { return false }
      return source != event.word("broadcaster_user_id")
    }

    func message(_ lines: inout NativeLines) {
      let user = user("chatter_user", badges: badges, color: event.text("color"))
      let words = lines.fitting(PlatformWords(event["message"]) ?? PlatformWords(text: ""))
      add("chat.message", &lines) {
        $0.add("id", messageIdentifier)
        $0.add(user: user ?? .unknown)
        $0.add(words: words)
        $0.add("replyTo", event["reply"]?.text("parent_message_id")?.clipped)
        if let bits = event["cheer"]?.count("bits"), bits > 0 { $0.add("bits", bits) }
        if isShared { $0.add("channel", event.text("source_broadcaster_user_id")?.clipped) }
      }
    }

    /// Adds a chat notice, whose kind is in `notice_type`. The member with the kind's name holds
    /// the details.
    func chatNotice(_ lines: inout NativeLines) {
      let type = event.word("notice_type") ?? ""
      let body = event[type] ?? .null
      let user =
        event["chatter_is_anonymous"]?.boolValue == true
        ? giver("anonymous")
        : self.user("chatter_user", badges: badges, color: event.text("color"))
      let words = PlatformWords(event["message"])
      switch type {
      case "sub", "gift_paid_upgrade", "prime_paid_upgrade":
        notice("subscribe", by: user, count: 1, words: words, &lines)
      case "resub":
        notice(
          "resubscribe", by: user, count: body.count("cumulative_months") ?? 1, words: words,
          &lines)
      case "sub_gift":
        notice(
          "gift", by: user, count: 1, group: body.text("community_gift_id"), words: words, &lines)
      case "community_sub_gift":
        notice(
          "giftBomb", by: user, count: body.count("total") ?? 1, group: body.text("id"),
          words: words, &lines)
      case "raid":
        notice("raid", by: user, count: body.count("viewer_count") ?? 0, words: words, &lines)
      case "announcement", "bits_badge_tier", "charity_donation", "pay_it_forward":
        let sentence = event.text("system_message")
        // The amount of a donation must be shown even if the donor wrote a text.
        let donation = type == "charity_donation" ? sentence ?? Self.donation(body) : nil
        let shown =
          donation.map { PlatformWords($0, followedBy: words) } ?? words
          ?? sentence.map { PlatformWords(text: $0) }
        guard let announced = shown.map({ lines.fitting($0) }) else {
          return lines.count(unknown: "channel.chat.notification \(type)")
        }
        add("announcement", &lines) {
          $0.add("id", identifier?.clipped)
          if let user { $0.add(user: user) }
          $0.add("text", announced.text)
          $0.add(emotes: announced.emotes)
        }
      case "unraid": break
      // Notices with this prefix happened in another channel of a shared chat.
      case _ where type.hasPrefix("shared_chat_"): break
      default:
        guard let words = words.map({ lines.fitting($0) }) else {
          return lines.count(unknown: "channel.chat.notification \(type)")
        }
        add("chat.message", &lines) {
          $0.add("id", messageIdentifier)
          $0.add(user: user ?? .unknown)
          $0.add(words: words)
          $0.add("kind", type)
        }
      }
    }

    /// Adds a time-out that ends at `end` in milliseconds since 1970, or a ban without an end.
    func timeout(_ prefix: String, until end: Int? = nil, _ lines: inout NativeLines) {
      let (id, name) = (event.anyText(prefix + "_id"), name(prefix))
      guard id != nil || name != nil else { return lines.count(unknown: "ban without a person") }
      add("chat.timeout", &lines) {
        // Without an identifier, the time-out applies to everybody with that name.
        $0.addObject("user") {
          $0.add("id", id?.clipped)
          $0.add("name", (name ?? id)?.clipped)
        }
        if let end, let time, end >= time { $0.add("seconds", (end - time + 999) / 1_000) }
      }
    }

    func deletion(_ lines: inout NativeLines) {
      guard let id = event.anyText("message_id") else {
        return lines.count(unknown: "deletion without a message")
      }
      add("chat.delete", &lines) { $0.add("id", id.clipped) }
    }

    /// Adds an action of a moderator, whose kind is in `action`. The member with the kind's name
    /// holds the details.
    func moderation(_ lines: inout NativeLines) {
      let action = event.word("action") ?? ""
      let body = event[action] ?? .null
      var context = self
      context.event = body
      switch action {
      case "ban", "shared_chat_ban": context.timeout("user", &lines)
      case "timeout", "shared_chat_timeout":
        context.timeout("user", until: body.time("expires_at"), &lines)
      case "delete", "shared_chat_delete":
        context.deletion(&lines)
      case "clear": add("chat.clear", &lines) { _ in }
      case "slow": mode("slowSeconds", body.count("wait_time_seconds") ?? 0, &lines)
      case "slowoff": mode("slowSeconds", 0, &lines)
      case "followers":
        mode("followersOnlyMinutes", body.count("follow_duration_minutes") ?? 0, &lines)
      case "followersoff": mode("followersOnlyMinutes", -1, &lines)
      case "emoteonly": mode("emoteOnly", true, &lines)
      case "emoteonlyoff": mode("emoteOnly", false, &lines)
      case "subscribers": mode("subscribersOnly", true, &lines)
      case "subscribersoff": mode("subscribersOnly", false, &lines)
      case "uniquechat": mode("uniqueOnly", true, &lines)
      case "uniquechatoff": mode("uniqueOnly", false, &lines)
      default: lines.count(unknown: "channel.moderate \(action)")
      }
    }

    private func mode(_ name: StaticString, _ value: Int, _ lines: inout NativeLines) {
      add("chat.modes", &lines) { $0.add(name, value) }
    }

    private func mode(_ name: StaticString, _ isOn: Bool, _ lines: inout NativeLines) {
      add("chat.modes", &lines) { $0.add(name, isOn) }
    }

    /// Adds a charity donation as an announcement with the amount and its currency.
    func donation(_ lines: inout NativeLines) {
      add("announcement", &lines) {
        $0.add("id", (event.text("id") ?? identifier)?.clipped)
        if let user = user("user") { $0.add(user: user) }
        $0.add("text", Self.donation(event) ?? "donates")
      }
    }

    /// Returns a sentence about a donation, or `nil` if there is no amount.
    private static func donation(_ event: JSONValue) -> String? {
      guard let amount = event["amount"], let units = amount.count("value") else { return nil }
      // Chat notices have the member's name in the singular.
      let places = amount.count("decimal_places") ?? amount.count("decimal_place") ?? 2
      let money = Money(
        units: units, places: min(places, Money.maximumPlaces),
        currency: amount.text("currency")?.clipped)
      let charity = event.text("charity_name").map { " for \($0.clipped)" }
      return "donates \(money.text)" + (charity ?? "")
    }

    func goal(_ lines: inout NativeLines) {
      add("goal", &lines) {
        $0.add(title: event.text("description") ?? event.text("type") ?? "goal")
        $0.add("count", event.count("current_amount") ?? 0)
        $0.add("target", event.count("target_amount") ?? 0)
      }
    }

    func modes(_ lines: inout NativeLines) {
      /// Returns the duration that a mode specifies, `off` if the mode is inactive, or `nil` if the
      /// mode is absent.
      func length(_ mode: String, _ member: String, off: Int) -> Int? {
        guard let isOn = event[mode]?.boolValue else { return nil }
        return isOn ? event.count(member) ?? 0 : off
      }
      add("chat.modes", &lines) {
        $0.add("slowSeconds", length("slow_mode", "slow_mode_wait_time_seconds", off: 0))
        $0.add("emoteOnly", event["emote_mode"]?.boolValue)
        $0.add(
          "followersOnlyMinutes",
          length("follower_mode", "follower_mode_duration_minutes", off: -1))
        $0.add("subscribersOnly", event["subscriber_mode"]?.boolValue)
        $0.add("uniqueOnly", event["unique_chat_mode"]?.boolValue)
      }
    }

    func hypeTrain(_ phase: String, _ lines: inout NativeLines) {
      add("hypeTrain", &lines) {
        $0.add("phase", phase)
        $0.add("level", event.count("level") ?? 1)
        $0.add("total", event.count("total"))
        $0.add("progress", event.count("progress"))
        $0.add("goal", event.count("goal"))
        $0.add("endsAt", phase == "end" ? nil : event.time("expires_at"))
      }
    }

    /// Adds a poll. Every notification repeats the whole poll, of which only the votes are used
    /// after the start.
    func poll(isBegin: Bool, isEnd: Bool, _ lines: inout NativeLines) {
      let choices = event["choices"]?.arrayValue ?? []
      guard let id = event.text("id"), (1...PollEvent.maximumOptions).contains(choices.count) else {
        return lines.count(unknown: "poll without an identifier or choices")
      }
      let votes = choices.map { $0.count("votes") ?? 0 }
      if isBegin {
        add("poll.begin", &lines) {
          $0.add("id", id.clipped)
          $0.add(title: event.text("title") ?? "?", upTo: EventLimits.titleLength)
          $0.add("options", texts: choices.map { $0.text("title") ?? "?" })
          $0.add("endsAt", event.time("ends_at"))
        }
        return
      }
      add("poll.votes", &lines) {
        $0.add("id", id.clipped)
        $0.addArray("totals") { array in for count in votes { array.append(count) } }
      }
      guard isEnd else { return }
      let best = votes.max() ?? 0
      let winners = votes.indices.filter { votes[$0] == best }
      add("poll.end", &lines) {
        $0.add("id", id.clipped)
        // A draw has no winner.
        $0.add("winner", best > 0 && winners.count == 1 ? winners[0] : nil)
      }
    }

    func prediction(_ state: String, _ lines: inout NativeLines) {
      let outcomes = event["outcomes"]?.arrayValue ?? []
      guard let id = event.text("id"), (1...Prediction.maximumOptions).contains(outcomes.count)
      else { return lines.count(unknown: "prediction without an identifier or outcomes") }
      add("prediction", &lines) {
        $0.add("id", id.clipped)
        $0.add(title: event.text("title") ?? "?", upTo: EventLimits.titleLength)
        $0.add("state", state)
        $0.add("options", texts: outcomes.map { $0.text("title") ?? "?" })
        $0.addArray("totals") { array in
          for outcome in outcomes { array.append(outcome.count("channel_points") ?? 0) }
        }
        let winner = event.word("winning_outcome_id")
        $0.add("winner", outcomes.firstIndex { winner != nil && $0.word("id") == winner })
        $0.add("endsAt", state == "open" ? event.time("locks_at") : nil)
      }
    }

    func redemption(_ lines: inout NativeLines) {
      guard let reward = event["reward"] ?? event["custom_power_up"] else {
        return lines.count(unknown: "redemption without a reward")
      }
      let user = user("user") ?? .unknown
      let input = event.text("user_input").map { PlatformWords(text: $0) }
      let words = (input ?? PlatformWords(event["message"])).map { lines.fitting($0) }
      lines.add("redemption", room: room, at: event.time("redeemed_at") ?? time) {
        $0.add("id", event.text("id")?.clipped)
        $0.add(user: user)
        $0.add(title: reward.text("title") ?? reward.text("type") ?? "?")
        $0.add(
          "cost", ["cost", "channel_points", "bits"].lazy.compactMap { reward.count($0) }.first)
        guard let words else { return }
        $0.add("text", words.text)
        $0.add(emotes: words.emotes)
      }
    }
  }
}
