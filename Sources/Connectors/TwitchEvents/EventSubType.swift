/// A type of EventSub event to subscribe to.
///
/// The event types for gifts, subscriptions, raids and cheers are omitted, because the chat's
/// events report them with an identifier. By that identifier, an event that arrives through both
/// IRC and EventSub counts once.
struct EventSubType: Sendable {
  /// The member of a subscription's condition that names the reading account.
  enum Reader: String, Sendable {
    case user = "user_id"
    case moderator = "moderator_user_id"
  }

  let name: String
  var version = "1"
  var reader: Reader?
  /// The accepted permissions, any of which suffices. Empty if none is required.
  var scopes: [String] = []

  static let chat = "user:read:chat"

  /// All event types, the most important first.
  static let all: [EventSubType] =
    ["stream.online", "stream.offline"].map { EventSubType(name: $0) }
    + [EventSubType(name: "channel.update", version: "2")]
    + [
      "message", "notification", "message_delete", "clear", "clear_user_messages",
    ].map { EventSubType(name: "channel.chat.\($0)", reader: .user, scopes: [chat]) }
    + [
      EventSubType(name: "channel.chat_settings.update", reader: .user, scopes: [chat]),
      EventSubType(
        name: "channel.follow", version: "2", reader: .moderator,
        scopes: ["moderator:read:followers"]),
      EventSubType(
        name: "channel.channel_points_custom_reward_redemption.add",
        scopes: ["channel:read:redemptions", "channel:manage:redemptions"]),
    ]
    + ["begin", "progress", "end"].flatMap { phase in
      [
        EventSubType(
          name: "channel.hype_train.\(phase)", version: "2", scopes: ["channel:read:hype_train"]),
        EventSubType(
          name: "channel.poll.\(phase)", scopes: ["channel:read:polls", "channel:manage:polls"]),
        EventSubType(
          name: "channel.prediction.\(phase)",
          scopes: ["channel:read:predictions", "channel:manage:predictions"]),
      ]
    }
    + [
      EventSubType(
        name: "channel.prediction.lock",
        scopes: ["channel:read:predictions", "channel:manage:predictions"])
    ]
}
