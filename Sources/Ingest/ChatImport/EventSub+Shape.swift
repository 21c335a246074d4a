import JSON

extension EventSub {
  /// The members to parse in events of all types. Twitch gives a name the same meaning in every
  /// type.
  static let shape: JSONShape = {
    var members: [JSONName: JSONShape] = [
      "broadcaster_user_login": .channel, "to_broadcaster_user_login": .channel,
      "message_id": .identifier, "id": .text, "color": .color, "is_gift": .truth,
      "chatter_is_anonymous": .truth, "system_message": .text, "notice_type": .text,
      "source_broadcaster_user_id": .test { $0.word() != nil },
      "message": .orText(
        .object([
          "text": .text, "fragments": .list(.object(["type": .text, "text": .piece])),
          "emotes": .list(.object(["begin": .count, "end": .count])),
        ])),
      "badges": .list(.object(["set_id": .text, "id": .text])),
      "cheer": .object(["bits": .count]), "reply": .object(["parent_message_id": .text]),
      // The following members hold the subject of a chat notice.
      "resub": .object(["cumulative_months": .count]), "raid": .object(["viewer_count": .count]),
      "sub_gift": .object(["community_gift_id": .text]),
      "community_sub_gift": .object(["total": .count, "id": .text]),
      "reward": .object([
        "title": .text, "type": .text, "cost": .count, "channel_points": .count,
      ]),
      "custom_power_up": .object(["title": .text, "bits": .count]), "user_input": .text,
      "amount": .object(["value": .count, "decimal_places": .count, "currency": .text]),
      "charity_name": .text, "title": .text, "category_name": .text, "description": .text,
      "type": .text,
      "choices": .list(.object(["title": .text, "votes": .count])),
      "outcomes": .list(.object(["id": .text, "title": .text, "channel_points": .count])),
      "winning_outcome_id": .text, "status": .text, "action": .text,
      "slow": .object(["wait_time_seconds": .count]),
      "followers": .object(["follow_duration_minutes": .count]),
    ]
    for name in ["chatter_user", "user", "from_broadcaster_user", "target_user"] {
      members[JSONName(name + "_id")] = .identifier
      members[JSONName(name + "_name")] = .text
      members[JSONName(name + "_login")] = .text
    }
    let act = JSONShape.object([
      "user_id": .identifier, "user_name": .text, "user_login": .text, "message_id": .identifier,
      "expires_at": .time,
    ])
    for name in ["ban", "timeout", "delete"] {
      members[JSONName(name)] = act
      members[JSONName("shared_chat_" + name)] = act
    }
    for name in [
      "bits", "viewers", "total", "cumulative_months", "level", "progress", "goal",
      "current_amount", "target_amount", "slow_mode_wait_time_seconds",
      "follower_mode_duration_minutes",
    ] {
      members[JSONName(name)] = .count
    }
    for name in [
      "slow_mode", "follower_mode", "emote_mode", "subscriber_mode", "unique_chat_mode",
    ] {
      members[JSONName(name)] = .truth
    }
    for name in ["followed_at", "started_at", "ends_at", "redeemed_at", "expires_at", "locks_at"] {
      members[JSONName(name)] = .time
    }
    return .object(members)
  }()
}
