import JSON
import LiveEvents

/// Translates a message of Social Stream Ninja whose author is known.
struct SocialStreamEvent {
  let user: PlatformUser
  let identifier: String
  let platform: String
  let room: String?
  /// The time of receipt, in milliseconds since 1970.
  let time: Int

  private func write(
    _ type: String, to lines: inout NativeLines, _ body: (inout NativeLine) -> Void
  ) {
    lines.add(type, room: room, at: time) {
      $0.add("id", identifier.clipped)
      $0.add(user: user)
      body(&$0)
      if !platform.isEmpty { $0.add("platform", platform) }
    }
  }

  func add(_ message: inout SocialStreamMessage, _ event: String?, to lines: inout NativeLines) {
    let words = message.words()
    let isPaid = event.map { Self.payments.contains($0) } ?? false
    if let donation = message.donation() ?? (isPaid ? message.metaMoney() : nil) {
      return add(donation: donation, words, to: &lines)
    }
    switch event {
    case nil, "message", "chat": addMessage(words, kind: nil, to: &lines)
    case "action": addMessage(words, kind: nil, isAction: true, to: &lines)
    case "follow", "new_follower", "followed", "follower":
      let isGenerated = words.map { text in
        ["follow", "subscribed"].contains { text.lowercased().contains($0) }
      }
      write("follow", to: &lines) { $0.add("text", isGenerated == true ? nil : words) }
    case "raid", "host", "hosting", "raided":
      let count =
        message.count(
          "viewers", "numRaiders", "raiders", "viewerCount", "viewer_count", "amount", "count")
        ?? words?.amountInWords ?? message.countInSubtitle()
      notice("raid", count ?? 0, words == event ? nil : words, to: &lines)
    case "cheer", "bits", "powerup":
      notice(
        "cheer", message.count("bits", "amount") ?? words?.bits ?? 0, words ?? powerUp(message),
        to: &lines)
    case "reward", "channel_points", "redemption", "redeem", "channel_points_redemption":
      redeem(&message, words, to: &lines)
    case "hype_train": train(&message, to: &lines)
    case "liked", "like", "likes":
      let count =
        message.count("likeCount", "likes", "count", "amount") ?? words?.amountInWords ?? 1
      lines.add("reaction", room: room, at: time) {
        $0.add("kind", "like")
        $0.add("count", max(1, count))
        if !platform.isEmpty { $0.add("platform", platform) }
      }
    case let event? where Self.quiet.contains(event): lines.count(unknown: event)
    case let event?: member(&message, event, words, to: &lines)
    }
  }

  /// The events that are payments. In some, only `meta` contains the amount.
  private static let payments: Set = [
    "donation", "superchat", "supersticker", "jeweldonation", "thankyou", "tip", "gift",
    "giftcontribution",
  ]
  /// The events that are counted but not shown, because the platform, not the person, wrote their
  /// text.
  private static let quiet: Set = ["joined", "join", "viewer_joined", "left"]

  /// Adds a membership or subscription, or an event of an unknown kind.
  private func member(
    _ message: inout SocialStreamMessage, _ event: String, _ words: String?,
    to lines: inout NativeLines
  ) {
    switch event {
    case "new_subscriber", "subscriber", "subscription", "subscribe", "sponsorship", "sponsor",
      "membership", "new_member", "giftredemption":
      notice("subscribe", 1, words, to: &lines)
    case "resub", "resubscription", "membermilestone", "member_milestone", "subscription_renewal":
      let months =
        message.count(
          "cumulativeMonths", "cumulative_months", "months", "memberMonth", "duration", "streak")
        ?? message.countInSubtitle()
      notice("resubscribe", max(1, months ?? 1), words, to: &lines)
    case "subscription_gift", "gifted", "giftpurchase", "community_gift", "membership_gift":
      let count =
        message.count("totalGifted", "total", "count", "amount", "quantity")
        ?? message.countInSubtitle()
        ?? words?.amountInWords
      notice("giftBomb", max(1, count ?? 1), words, to: &lines)
    default:
      if words == nil { return lines.count(unknown: event) }
      addMessage(words, kind: event, to: &lines)
    }
  }

  private func addMessage(
    _ words: String?, kind: String?, isAction: Bool = false, to lines: inout NativeLines
  ) {
    guard let words else { return }
    write("chat.message", to: &lines) {
      $0.add("text", words)
      $0.add("kind", kind)
      if isAction { $0.add("action", true) }
    }
  }

  /// Adds a donation. Amounts are in many currencies, so the announcement quotes the platform's
  /// text.
  private func add(donation: String, _ words: String?, to lines: inout NativeLines) {
    if let bits = donation.bits { return notice("cheer", bits, words, to: &lines) }
    write("announcement", to: &lines) {
      $0.add("text", [donation, words].compactMap { $0 }.joined(separator: ": "))
    }
  }

  private func notice(
    _ kind: String, _ count: Int, _ words: String?, to lines: inout NativeLines
  ) {
    write("chat.notice", to: &lines) {
      $0.add("kind", kind)
      $0.add("count", count)
      $0.add("text", words)
    }
  }

  /// Returns the text that a person sent with a Twitch Power-up.
  private func powerUp(_ message: SocialStreamMessage) -> String? {
    let value = message.meta["powerUp"]
    return value?.text("message") ?? value?.text("text")
  }

  private func redeem(
    _ message: inout SocialStreamMessage, _ words: String?, to lines: inout NativeLines
  ) {
    let title = message.metaText("rewardTitle", "title", "product") ?? "reward"
    let text = message.metaText("userInput", "user_input") ?? words
    let cost = message.count("cost")
    write("redemption", to: &lines) {
      $0.add(title: title)
      $0.add("cost", cost)
      $0.add("text", text?.clipped(to: 8192))
    }
  }

  private func train(_ message: inout SocialStreamMessage, to lines: inout NativeLines) {
    let phase = message.metaText("phase")?.clipped.lowercased() ?? "progress"
    guard ["begin", "progress", "end"].contains(phase), let level = message.count("level") else {
      return lines.count(unknown: "hype_train")
    }
    let (total, progress, goal) = (
      message.count("total"), message.count("progress"), message.count("goal")
    )
    let end = message.meta.time("expiresAt")
    lines.add("hypeTrain", room: room, at: time) {
      $0.add("phase", phase)
      $0.add("level", level)
      $0.add("total", total)
      $0.add("progress", progress)
      $0.add("goal", goal)
      $0.add("endsAt", end)
      if !platform.isEmpty { $0.add("platform", platform) }
    }
  }
}
