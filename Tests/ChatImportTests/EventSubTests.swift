import ChatImport
import JSON
import LiveEvents
import TestSupport
import Testing

struct EventSubTests {
  /// Returns a received notification, whose event has the channel's members and the given members.
  private static func line(_ type: String, _ members: String) -> String {
    #"{"metadata":{"message_id":"m","message_type":"notification","#
      + #""message_timestamp":"2026-11-23T20:00:00.123456789Z"},"payload":{"subscription":{"#
      + #""type":"\#(type)","version":"1"},"event":{"broadcaster_user_id":"1","#
      + #""broadcaster_user_login":"ada","broadcaster_user_name":"Ada"\#(members)}}}"#
  }

  private static let user = #","user_id":"7","user_login":"bo","user_name":"Bo""#
  private static let chatter =
    #","chatter_user_id":"7","chatter_user_login":"bo","chatter_user_name":"Bo""#
  private static let start = #""room":"ada","ts":1795464000123"#
  private static let bo = #""user":{"id":"7","name":"Bo"}"#

  @Test(arguments: [
    (
      "channel.chat.notification",
      chatter + #","message_id":"a","notice_type":"announcement""#,
      #""type":"announcement""#
    ),
    (
      "channel.channel_points_automatic_reward_redemption.add",
      user + #","id":"a","reward":{"type":"send_highlighted_message"}"#, #""type":"redemption""#
    ),
  ])
  func `a translated announcement or redemption keeps its emotes`(
    type: String, members: String, line: String
  ) {
    let message =
      #","message":{"text":"hi Kappa","fragments":[{"type":"text","text":"hi "},"#
      + #"{"type":"emote","text":"Kappa"}]}"#
    let translated = Translated(.eventSub, Self.line(type, members + message))
    #expect(translated.lines.count == 1)
    #expect(translated.lines[0].contains(line))
    #expect(translated.lines[0].contains(#""text":"hi Kappa","emotes":[3,8]"#))
    #expect(translated.unknown.isEmpty)
  }

  @Test func `an unpaired surrogate in a notification is replaced by one character`() {
    let text = #""message_id":"a","message":{"text":"cut \ud83d"}"#
    let translated = Translated(.eventSub, Self.line("channel.chat.message", "," + text))
    #expect(translated.lines.count == 1 && translated.lines[0].contains("cut \u{FFFD}"))
  }

  /// Each type, with the members of its line after `type`, room and time.
  @Test(arguments: [
    (
      "channel.chat.message",
      chatter
        + #","message_id":"a","message":{"text":"hi \"you\"","fragments":[]},"badges":[{"set_id":"subscriber","id":"6","info":"7"},{"set_id":"vip","id":"1"}],"cheer":{"bits":50},"reply":{"parent_message_id":"b"},"source_broadcaster_user_id":null"#,
      [
        #"{"type":"chat.message",\#(start),"id":"a","user":{"id":"7","name":"Bo","badges":"subscriber/6,vip/1"},"text":"hi \"you\"","replyTo":"b","bits":50}"#
      ]
    ),
    (
      "channel.chat.message",
      chatter
        + #","message_id":"a","message":{"text":"h\u00e9 Kappa Kappa!","fragments":[{"type":"text","text":"h\u00e9 "},{"type":"emote","text":"Kappa","emote":{"id":"25"}},{"type":"text","text":" "},{"type":"emote","text":"Kappa"},{"type":"mention","text":"!"}]},"badges":[]"#,
      [
        #"{"type":"chat.message",\#(start),"id":"a",\#(bo),"text":"hé Kappa Kappa!","emotes":[3,8,9,14]}"#
      ]
    ),
    (
      "channel.chat.message",
      chatter
        + #","message_id":"a","message":{"text":"hi"},"badges":[],"source_broadcaster_user_id":"9""#,
      [#"{"type":"chat.message",\#(start),"id":"a",\#(bo),"text":"hi","channel":"9"}"#]
    ),
    (
      "channel.chat.notification",
      chatter + #","message_id":"a","notice_type":"sub","sub":{"sub_tier":"1000"}"#,
      [#"{"type":"chat.notice",\#(start),"id":"a","kind":"subscribe",\#(bo),"count":1}"#]
    ),
    (
      "channel.chat.notification",
      chatter + #","message_id":"a","notice_type":"resub","resub":{"cumulative_months":14}"#,
      [#"{"type":"chat.notice",\#(start),"id":"a","kind":"resubscribe",\#(bo),"count":14}"#]
    ),
    (
      "channel.chat.notification",
      chatter
        + #","message_id":"a","notice_type":"community_sub_gift","community_sub_gift":{"id":"g","total":5}"#,
      [#"{"type":"chat.notice",\#(start),"id":"a","kind":"giftBomb",\#(bo),"count":5,"group":"g"}"#]
    ),
    (
      "channel.chat.notification",
      chatter
        + #","message_id":"a","notice_type":"sub_gift","sub_gift":{"community_gift_id":"g"}"#,
      [#"{"type":"chat.notice",\#(start),"id":"a","kind":"gift",\#(bo),"count":1,"group":"g"}"#]
    ),
    (
      "channel.chat.notification",
      #","chatter_is_anonymous":true,"message_id":"a","notice_type":"sub_gift","sub_gift":{}"#,
      [
        #"{"type":"chat.notice",\#(start),"id":"a","kind":"gift","user":{"id":"274598607","name":"AnAnonymousGifter"},"count":1}"#
      ]
    ),
    (
      "channel.chat.notification",
      chatter + #","message_id":"a","notice_type":"raid","raid":{"viewer_count":42}"#,
      [#"{"type":"chat.notice",\#(start),"id":"a","kind":"raid",\#(bo),"count":42}"#]
    ),
    (
      "channel.chat.notification",
      chatter
        + #","message_id":"a","notice_type":"resub","resub":{"cumulative_months":14},"message":{"text":"Kappa yes","fragments":[{"type":"emote","text":"Kappa"},{"type":"text","text":" yes"}]}"#,
      [
        #"{"type":"chat.notice",\#(start),"id":"a","kind":"resubscribe",\#(bo),"count":14,"text":"Kappa yes","emotes":[0,5]}"#
      ]
    ),
    (
      "channel.chat.notification",
      chatter
        + #","message_id":"a","notice_type":"watch_streak","watch_streak":{"streak_count":5},"message":{"text":"still here"}"#,
      [
        #"{"type":"chat.message",\#(start),"id":"a",\#(bo),"text":"still here","kind":"watch_streak"}"#
      ]
    ),
    (
      "channel.chat.message",
      chatter
        + #","message_id":"a","message":{"text":"\u0001ACTION waves Kappa\u0001","fragments":[{"type":"text","text":"\u0001ACTION waves "},{"type":"emote","text":"Kappa"},{"type":"text","text":"\u0001"}]},"badges":[]"#,
      [
        #"{"type":"chat.message",\#(start),"id":"a",\#(bo),"text":"waves Kappa","action":true,"emotes":[6,11]}"#
      ]
    ),
    (
      "channel.chat.notification",
      chatter + #","message_id":"a","notice_type":"announcement","message":{"text":"Hear!"}"#,
      [#"{"type":"announcement",\#(start),"id":"a",\#(bo),"text":"Hear!"}"#]
    ),
    (
      "channel.chat.notification",
      chatter + #","message_id":"a","notice_type":"shared_chat_sub","shared_chat_sub":{}"#, []
    ),
    ("channel.chat.clear", "", [#"{"type":"chat.clear",\#(start)}"#]),
    (
      "channel.chat.clear_user_messages",
      #","target_user_id":"7","target_user_login":"bo","target_user_name":"Bo""#,
      [#"{"type":"chat.timeout",\#(start),\#(bo)}"#]
    ),
    (
      "channel.chat.message_delete", #","message_id":"a""#,
      [#"{"type":"chat.delete",\#(start),"id":"a"}"#]
    ),
    (
      "channel.chat_settings.update",
      #","emote_mode":false,"follower_mode":true,"follower_mode_duration_minutes":10,"slow_mode":false,"slow_mode_wait_time_seconds":null,"subscriber_mode":true,"unique_chat_mode":false"#,
      [
        #"{"type":"chat.modes",\#(start),"slowSeconds":0,"emoteOnly":false,"followersOnlyMinutes":10,"subscribersOnly":true,"uniqueOnly":false}"#
      ]
    ),
    (
      "channel.follow", user + #","followed_at":"2026-11-23T21:00:00+01:00""#,
      [
        #"{"type":"follow","room":"ada","ts":1795464000000,"id":"follow/7/1795464000000",\#(bo)}"#
      ]
    ),
    (
      "channel.subscribe", user + #","tier":"1000","is_gift":false"#,
      [#"{"type":"chat.notice",\#(start),"id":"m","kind":"subscribe",\#(bo),"count":1}"#]
    ),
    ("channel.subscribe", user + #","tier":"1000","is_gift":true"#, []),
    (
      "channel.subscription.gift", #","user_id":null,"total":3,"is_anonymous":true"#,
      [
        #"{"type":"chat.notice",\#(start),"id":"m","kind":"giftBomb","user":{"id":"274598607","name":"AnAnonymousGifter"},"count":3}"#
      ]
    ),
    (
      "channel.subscription.message", user + #","cumulative_months":9,"message":{"text":"yay"}"#,
      [
        #"{"type":"chat.notice",\#(start),"id":"m","kind":"resubscribe",\#(bo),"count":9,"text":"yay"}"#
      ]
    ),
    (
      "channel.cheer", user + #","bits":100,"is_anonymous":false,"message":"Cheer100 go""#,
      [
        #"{"type":"chat.notice",\#(start),"id":"m","kind":"cheer",\#(bo),"count":100,"text":"Cheer100 go"}"#
      ]
    ),
    (
      "channel.bits.use", user + #","bits":5,"type":"cheer""#,
      [#"{"type":"chat.notice",\#(start),"id":"m","kind":"cheer",\#(bo),"count":5}"#]
    ),
    (
      "channel.raid",
      #","to_broadcaster_user_login":"ada","from_broadcaster_user_id":"7","from_broadcaster_user_name":"Bo","viewers":80"#,
      [#"{"type":"chat.notice",\#(start),"id":"m","kind":"raid",\#(bo),"count":80}"#]
    ),
    (
      "channel.hype_train.begin",
      #","id":"t","level":2,"total":700,"progress":200,"goal":1000,"expires_at":"2026-11-23T20:05:00Z""#,
      [
        #"{"type":"hypeTrain",\#(start),"phase":"begin","level":2,"total":700,"progress":200,"goal":1000,"endsAt":1795464300000}"#
      ]
    ),
    (
      "channel.hype_train.progress", #","id":"t","level":3,"total":1700"#,
      [#"{"type":"hypeTrain",\#(start),"phase":"progress","level":3,"total":1700}"#]
    ),
    (
      "channel.hype_train.end",
      #","id":"t","level":3,"total":1700,"ended_at":"2026-11-23T20:09:00Z""#,
      [#"{"type":"hypeTrain",\#(start),"phase":"end","level":3,"total":1700}"#]
    ),
    (
      "channel.poll.begin",
      #","id":"p","title":"Tea?","choices":[{"id":"1","title":"yes"},{"id":"2","title":"no"}],"ends_at":"2026-11-23T20:05:00Z""#,
      [
        #"{"type":"poll.begin",\#(start),"id":"p","title":"Tea?","options":["yes","no"],"endsAt":1795464300000}"#
      ]
    ),
    (
      "channel.poll.progress",
      #","id":"p","choices":[{"title":"yes","votes":3},{"title":"no","votes":1}]"#,
      [#"{"type":"poll.votes",\#(start),"id":"p","totals":[3,1]}"#]
    ),
    (
      "channel.poll.end",
      #","id":"p","status":"completed","choices":[{"title":"yes","votes":3},{"title":"no","votes":4}]"#,
      [
        #"{"type":"poll.votes",\#(start),"id":"p","totals":[3,4]}"#,
        #"{"type":"poll.end",\#(start),"id":"p","winner":1}"#,
      ]
    ),
    (
      "channel.prediction.begin",
      #","id":"p","title":"Win?","outcomes":[{"id":"1","title":"yes"},{"id":"2","title":"no"}],"locks_at":"2026-11-23T20:05:00Z""#,
      [
        #"{"type":"prediction",\#(start),"id":"p","title":"Win?","state":"open","options":["yes","no"],"totals":[0,0],"endsAt":1795464300000}"#
      ]
    ),
    (
      "channel.prediction.lock",
      #","id":"p","title":"Win?","outcomes":[{"id":"1","title":"yes","channel_points":500}]"#,
      [
        #"{"type":"prediction",\#(start),"id":"p","title":"Win?","state":"locked","options":["yes"],"totals":[500]}"#
      ]
    ),
    (
      "channel.prediction.end",
      #","id":"p","title":"Win?","status":"resolved","winning_outcome_id":"2","outcomes":[{"id":"1","title":"yes","channel_points":5},{"id":"2","title":"no","channel_points":6}]"#,
      [
        #"{"type":"prediction",\#(start),"id":"p","title":"Win?","state":"resolved","options":["yes","no"],"totals":[5,6],"winner":1}"#
      ]
    ),
    (
      "channel.channel_points_custom_reward_redemption.add",
      user
        + #","id":"r","user_input":"please","reward":{"id":"x","title":"Hydrate","cost":300},"redeemed_at":"2026-11-23T20:00:00Z""#,
      [
        #"{"type":"redemption","room":"ada","ts":1795464000000,"id":"r",\#(bo),"title":"Hydrate","cost":300,"text":"please"}"#
      ]
    ),
    (
      "stream.online", #","id":"s","type":"live","started_at":"2026-11-23T20:00:00Z""#,
      [#"{"type":"stream","room":"ada","ts":1795464000000,"state":"live"}"#]
    ),
    ("stream.offline", "", [#"{"type":"stream",\#(start),"state":"ended"}"#]),
    (
      "channel.update", #","title":"New","category_name":"Art""#,
      [
        #"{"type":"title",\#(start),"title":"New"}"#,
        #"{"type":"category",\#(start),"title":"Art"}"#,
      ]
    ),
    ("channel.shared_chat.begin", #","session_id":"s""#, []),
    (
      "channel.ban", user + #","is_permanent":true"#, [#"{"type":"chat.timeout",\#(start),\#(bo)}"#]
    ),
    (
      "channel.ban", user + #","ends_at":"2026-11-23T20:01:00Z""#,
      [#"{"type":"chat.timeout",\#(start),\#(bo),"seconds":60}"#]
    ),
    (
      "channel.moderate",
      #","action":"timeout","timeout":{"user_id":"7","user_name":"Bo","expires_at":"2026-11-23T20:01:00Z"}"#,
      [#"{"type":"chat.timeout",\#(start),\#(bo),"seconds":60}"#]
    ),
    (
      "channel.moderate",
      #","action":"delete","delete":{"user_id":"7","message_id":"a","message_body":"rude"}"#,
      [#"{"type":"chat.delete",\#(start),"id":"a"}"#]
    ),
    ("channel.moderate", #","action":"clear""#, [#"{"type":"chat.clear",\#(start)}"#]),
    (
      "channel.charity_campaign.donate",
      user
        + #","id":"d","charity_name":"Some Charity","amount":{"value":1050,"decimal_places":2,"currency":"USD"}"#,
      [
        #"{"type":"announcement",\#(start),"id":"d",\#(bo),"text":"donates 10.50 USD for Some Charity"}"#
      ]
    ),
    (
      "channel.goal.progress", #","type":"follower","current_amount":5,"target_amount":10"#,
      [#"{"type":"goal",\#(start),"title":"follower","count":5,"target":10}"#]
    ),
    (
      "channel.channel_points_automatic_reward_redemption.add",
      user
        + #","id":"r","reward":{"type":"send_highlighted_message","channel_points":100},"message":{"text":"look","fragments":[]}"#,
      [
        #"{"type":"redemption",\#(start),"id":"r",\#(bo),"title":"send_highlighted_message","cost":100,"text":"look"}"#
      ]
    ),
  ])
  func `each type of notification is translated into the expected native lines`(
    type: String, members: String, lines: [String]
  ) {
    let translated = Translated(.eventSub, Self.line(type, members))
    #expect(translated.lines == lines)
    #expect(translated.unknown.isEmpty)
    #expect(translated.rejected.isEmpty)
    #expect(translated.events.count == lines.count)
  }

  @Test func `notifications of unknown types are counted by name, and the others are translated`() {
    let text = [
      Self.line("channel.vip.add", ""), Self.line("channel.vip.add", ""),
      Self.line("channel.chat.notification", #","notice_type":"watch_streak""#),
      #"{"metadata":{"message_type":"session_keepalive"},"payload":{}}"#, "{", "{}", "",
      Self.line("stream.offline", ""),
    ].joined(separator: "\n")
    let translated = Translated(.eventSub, text, pieces: 7)
    #expect(translated.lines.count == 1)
    #expect(
      translated.unknown == [
        "channel.vip.add": 2, "channel.chat.notification watch_streak": 1, "malformed": 1,
        "no notification": 1,
      ])
  }

  /// Returns the lines of a notification with these members, and the counts of unknown kinds.
  private static func lines(
    _ type: String, _ event: JSONValue, room: RoomName? = nil
  ) -> (text: String, unknown: [String: Int]) {
    var lines = NativeLines()
    EventSub.translate(
      EventSub.Notification(type: type, event: event, time: 0), room: room, into: &lines)
    return (String(decoding: lines.bytes, as: UTF8.self), lines.unknown)
  }

  @Test func `events of any channel are assigned to the given room`() {
    let event: JSONValue = ["broadcaster_user_login": "other"]
    #expect(Self.lines("stream.offline", event).text.contains(#""room":"other""#))
    let lines = Self.lines("stream.offline", event, room: RoomName("ada"))
    #expect(lines.text.contains(#""room":"ada""#))
  }

  @Test(.timeLimit(.minutes(1)))
  func `values in a notification that are too long to be a name or a type are ignored`() {
    let text = JSONValue.string(NastyText.marks)
    let message = Self.lines(
      "channel.chat.message",
      [
        "broadcaster_user_login": text, "chatter_user_id": "7", "message_id": "a",
        "broadcaster_user_id": text, "source_broadcaster_user_id": text,
        "message": ["text": "hi", "fragments": [["type": text, "text": "hi"]]],
      ])
    #expect(
      message.text == """
        {"type":"chat.message","ts":0,"id":"a","user":{"id":"7","name":"7"},"text":"hi"}

        """)
    let prediction = Self.lines(
      "channel.prediction.end",
      [
        "id": "p", "status": text, "winning_outcome_id": text,
        "outcomes": [["id": text, "title": "yes"]],
      ])
    #expect(prediction.text.contains(#""state":"cancelled""#))
    #expect(!prediction.text.contains("winner"))
    let notice = Self.lines("channel.chat.notification", ["notice_type": text])
    #expect(notice.unknown == ["channel.chat.notification ": 1])
    var kinds = NativeLines()
    for _ in 0..<2 { kinds.count(unknown: NastyText.marks) }
    #expect(kinds.unknown.count == 1 && kinds.unknown.first?.key.utf8.count == 80)
    let line = #"{"subscription":{"type":"\#(NastyText.marks)"},"event":{}}"#
    #expect(Translated(.eventSub, line).unknown.values.reduce(0, +) == 1)
  }

  @Test func `the body of a webhook is translated like a notification of the WebSocket`() {
    let translated = Translated(
      .eventSub,
      #"{"subscription":{"type":"stream.offline","condition":{},"created_at":"2026-11-23T20:00:00Z"},"event":{"broadcaster_user_login":"Ada"}}"#
    )
    #expect(
      translated.lines == [#"{"type":"stream","room":"ada","ts":1795464000000,"state":"ended"}"#])
  }
}
