package import LiveEvents

/// The permissions that acts require.
extension TwitchAct {
  /// The scope that an act of this kind requires.
  package static func scope(of kind: ActKind) -> String {
    switch kind {
    case .say, .reply: "user:write:chat"
    case .delete: "moderator:manage:chat_messages"
    case .timeOut, .ban, .unban: "moderator:manage:banned_users"
    case .announce: "moderator:manage:announcements"
    case .mark, .setTitle, .setCategory: "channel:manage:broadcast"
    case .shoutOut: "moderator:manage:shoutouts"
    case .setChatModes: "moderator:manage:chat_settings"
    case .setShield: "moderator:manage:shield_mode"
    case .reviewHeld: "moderator:manage:automod"
    }
  }

  /// Returns the kinds of act that a token with these scopes allows.
  ///
  /// - Parameter isOwner: Whether the token belongs to the channel's owner. Twitch lets only the
  ///   owner change the title and the category.
  package static func allowed(by scopes: Set<String>, isOwner: Bool) -> [ActKind] {
    ActKind.allCases.filter { kind in
      switch kind {
      case .setTitle, .setCategory: isOwner && scopes.contains(scope(of: kind))
      default: scopes.contains(scope(of: kind))
      }
    }
  }

  /// The reason for a refusal because the token lacks a scope.
  static func lacks(_ scope: String) -> String { "the token lacks \(scope); \(remedy)" }

  static let remedy = "run livehostctl login twitch --client-id ID --acts all"
}
