/// A type of event that is subscribed to.
///
/// Gifts, subscriptions, raids and cheers are not here: the chat tells them, with an identifier, so that what
/// is read over IRC as well counts once.
struct EventSubType: Sendable {
  /// Who the condition names beside the channel.
  enum Reader: String, Sendable {
    case user = "user_id"
    case moderator = "moderator_user_id"
  }

  let name: String
  var version = "1"
  var reader: Reader?
  /// Any of them is enough; empty if none is needed.
  var scopes: [String] = []

  static let chat = "user:read:chat"

  /// All types, the most important ones first.
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
