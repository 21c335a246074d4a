import JSON
import LiveEvents
import LiveSources
import Testing
import TwitchEvents

/// The content of a request. Only the module itself can make requests.
private struct Sent: Equatable {
  var method = HTTPRequest.Method.get
  var path: String
  var body: JSONValue?
}

extension Sent {
  init(_ request: EventSubRequest) {
    self.init(method: request.method, path: request.path, body: request.body)
  }
}

/// The request for an act in channel 42 by the moderator 7.
private func request(_ act: PlatformAct) throws -> Sent {
  Sent(try TwitchAct(act).request(channel: "42", user: "7"))
}

private func refusal(_ act: PlatformAct) -> String? {
  do {
    _ = try TwitchAct(act)
    return nil
  } catch {
    return error.reason
  }
}

private let bo = Person(id: "9", name: "Bo")

/// What follows from an answer to an act's first request.
private func progress(
  _ act: PlatformAct, _ status: Int, _ body: JSONValue = .null
) throws -> TwitchAct.Progress {
  let act = try TwitchAct(act)
  return act.progress(
    after: act.request(channel: "42", user: "7"), status: status, body, channel: "42")
}

struct TwitchActTests {
  @Test func `each kind of act is the request that Twitch documents`() throws {
    let moderator = "broadcaster_id=42&moderator_id=7"
    #expect(
      try request(PlatformAct(.say, text: "hi"))
        == Sent(
          method: .post, path: "/helix/chat/messages",
          body: ["broadcaster_id": "42", "sender_id": "7", "message": "hi"]))
    #expect(
      try request(PlatformAct(.reply, text: "hi", message: "m-1"))
        == Sent(
          method: .post, path: "/helix/chat/messages",
          body: [
            "broadcaster_id": "42", "sender_id": "7", "message": "hi",
            "reply_parent_message_id": "m-1",
          ]))
    #expect(
      try request(PlatformAct(.announce, text: "hi"))
        == Sent(
          method: .post, path: "/helix/chat/announcements?\(moderator)", body: ["message": "hi"]))
    #expect(
      try request(PlatformAct(.delete, message: "m-1"))
        == Sent(
          method: .delete, path: "/helix/moderation/chat?\(moderator)&message_id=m-1"))
    #expect(
      try request(PlatformAct(.timeOut, person: bo, seconds: 600, reason: "rude"))
        == Sent(
          method: .post, path: "/helix/moderation/bans?\(moderator)",
          body: ["data": ["user_id": "9", "duration": 600, "reason": "rude"]]))
    #expect(
      try request(PlatformAct(.ban, person: bo))
        == Sent(
          method: .post, path: "/helix/moderation/bans?\(moderator)",
          body: ["data": ["user_id": "9"]]))
    #expect(
      try request(PlatformAct(.unban, person: bo))
        == Sent(
          method: .delete, path: "/helix/moderation/bans?\(moderator)&user_id=9"))
    #expect(
      try request(PlatformAct(.shoutOut, person: bo))
        == Sent(
          method: .post,
          path: "/helix/chat/shoutouts?from_broadcaster_id=42&to_broadcaster_id=9&moderator_id=7"))
    #expect(
      try request(PlatformAct(.mark, text: "boss"))
        == Sent(
          method: .post, path: "/helix/streams/markers",
          body: ["user_id": "42", "description": "boss"]))
    #expect(
      try request(PlatformAct(.mark))
        == Sent(
          method: .post, path: "/helix/streams/markers", body: ["user_id": "42"]))
    #expect(
      try request(PlatformAct(.setTitle, text: "new"))
        == Sent(
          method: .patch, path: "/helix/channels?broadcaster_id=42", body: ["title": "new"]))
    #expect(
      try request(PlatformAct(.setCategory, text: "Tetris & Co"))
        == Sent(path: "/helix/games?name=Tetris%20%26%20Co"))
    #expect(
      try request(PlatformAct(.setShield, on: true))
        == Sent(
          method: .put, path: "/helix/moderation/shield_mode?\(moderator)",
          body: ["is_active": true]))
    #expect(
      try request(PlatformAct(.reviewHeld, message: "m-1", on: false))
        == Sent(
          method: .post, path: "/helix/moderation/automod/message",
          body: ["user_id": "7", "msg_id": "m-1", "action": "DENY"]))
  }

  @Test func `chat modes are changed together, and an absent mode stays`() throws {
    let modes = ChatModes(
      slowSeconds: 30, emoteOnly: false, followersOnlyMinutes: 10, subscribersOnly: true)
    #expect(
      try request(PlatformAct(.setChatModes, modes: modes)).body
        == [
          "slow_mode": true, "slow_mode_wait_time": 30, "emote_mode": false, "follower_mode": true,
          "follower_mode_duration": 10, "subscriber_mode": true,
        ])
    let off = try request(
      PlatformAct(
        .setChatModes, modes: ChatModes(slowSeconds: 0, followersOnlyMinutes: -1, uniqueOnly: true))
    )
    #expect(
      off
        == Sent(
          method: .patch, path: "/helix/chat/settings?broadcaster_id=42&moderator_id=7",
          body: ["slow_mode": false, "follower_mode": false, "unique_chat_mode": true]))
  }

  @Test func `text and identifiers from people cannot change the address of a request`() throws {
    let category = try request(PlatformAct(.setCategory, text: "a&name=#/../b\u{1F41D}"))
    #expect(category.path == "/helix/games?name=a%26name%3D%23%2F..%2Fb%F0%9F%90%9D")
    let reason = refusal(try PlatformAct(.unban, person: Person(id: "9&x=1", name: "Bo")))
    #expect(reason == "Twitch's number of this person is unknown")
  }

  @Test func `a deletion names one message, since Twitch would otherwise clear the chat`() throws {
    #expect(TwitchAct.MessageIdentifier("") == nil)
    #expect(TwitchAct.MessageIdentifier(String(repeating: "a", count: 257)) == nil)
    #expect(throws: PlatformAct.Fault.self) { try PlatformAct(.delete, message: "") }
    for identifier: Text in [" ", "\0", "-", "\u{200B}", "a&message_id=", "a\u{301}", "a/../b"] {
      let reason = refusal(try PlatformAct(.delete, message: identifier))
      #expect(reason == "the message's identifier is not one of Twitch")
    }
  }

  @Test func `an act beyond Twitch's limits is refused with the limit`() throws {
    let long = Text(String(repeating: "\u{1F41D}", count: 141))
    for kind in [ActKind.setTitle, .mark] {
      let reason = refusal(try PlatformAct(kind, text: long))
      #expect(reason == "the text is longer than Twitch's limit of 140 characters")
    }
    #expect(refusal(try PlatformAct(.say, text: long)) == nil)
    for seconds in [1, 2, 121] {
      let reason = refusal(
        try PlatformAct(.setChatModes, modes: ChatModes(slowSeconds: seconds)))
      #expect(reason == "Twitch's slow mode takes 3 to 120 seconds")
    }
    let minutes = ChatModes(followersOnlyMinutes: 129_601)
    #expect(
      refusal(try PlatformAct(.setChatModes, modes: minutes))
        == "Twitch's followers-only mode takes 0 to 129,600 minutes")
  }

  @Test(arguments: [
    "/me waves", "/clear", ".ban bo", ".", " /clear", "\u{FEFF}/clear", "/\u{301}clear",
    ".\u{200D}ban",
  ])
  func `a message that Twitch would read as a command is refused`(text: String) throws {
    let reason = "Twitch drops the first word of a message that begins with / or ."
    #expect(refusal(try PlatformAct(.say, text: Text(text))) == reason)
    #expect(refusal(try PlatformAct(.reply, text: Text(text), message: "m")) == reason)
    #expect(refusal(try PlatformAct(.announce, text: Text(text))) == nil)
  }

  @Test(arguments: ["... well", "a /me", "1/2"])
  func `a message with a slash or dots that are not a command is allowed`(text: String) throws {
    #expect(refusal(try PlatformAct(.say, text: Text(text))) == nil)
  }

  // MARK: Answers

  @Test func `a message that Twitch drops is refused with Twitch's reason`() throws {
    let say = try PlatformAct(.say, text: "hi")
    let sent: JSONValue = ["data": [["message_id": "m", "is_sent": true]]]
    #expect(try progress(say, 200, sent) == .ended(.confirmed))
    let dropped: JSONValue = [
      "data": [
        [
          "message_id": "", "is_sent": false,
          "drop_reason": ["code": "msg_rejected", "message": "held by AutoMod"],
        ]
      ]
    ]
    #expect(try progress(say, 200, dropped) == .ended(.refused(reason: "Twitch: held by AutoMod")))
    let silent: JSONValue = ["data": [["is_sent": false, "drop_reason": ["code": "slow_mode"]]]]
    #expect(try progress(say, 200, silent) == .ended(.refused(reason: "Twitch: slow_mode")))
    #expect(
      try progress(say, 200, .null)
        == .ended(.refused(reason: "the outcome is unknown: Twitch's answer is not usable")))
  }

  @Test(arguments: [400, 401, 403, 404, 409, 422, 425, 429])
  func `a rejected act is refused with Twitch's message`(status: Int) throws {
    let body: JSONValue = ["error": "E", "status": .integer(Int64(status)), "message": "no"]
    let ban = try PlatformAct(.ban, person: bo)
    #expect(try progress(ban, status, body) == .ended(.refused(reason: "Twitch: no")))
    #expect(try progress(ban, status) == .ended(.refused(reason: "Twitch answers \(status)")))
  }

  @Test func `an answer names the missing scope, and the remedy is to log in again`() throws {
    let body: JSONValue = ["message": "Missing scope: user:write:chat"]
    #expect(
      try progress(PlatformAct(.say, text: "hi"), 401, body)
        == .ended(
          .refused(
            reason: "Twitch: Missing scope: user:write:chat; "
              + "run livehostctl login twitch --client-id ID --acts all")))
  }

  @Test func `a message that Twitch cannot delete may be older than 6 hours`() throws {
    #expect(
      try progress(PlatformAct(.delete, message: "m"), 404, ["message": "not found"])
        == .ended(.refused(reason: "Twitch deletes only existing messages of the last 6 hours")))
    #expect(try progress(PlatformAct(.delete, message: "m"), 204) == .ended(.confirmed))
  }

  @Test(arguments: [500, 503])
  func `the outcome is unknown after an error of the server`(status: Int) throws {
    #expect(
      try progress(PlatformAct(.say, text: "hi"), status)
        == .ended(.refused(reason: "the outcome is unknown: Twitch answers \(status)")))
  }

  @Test func `a category is set by the number that Twitch gives its name`() throws {
    let act = try PlatformAct(.setCategory, text: "Tetris")
    let found: JSONValue = ["data": [["id": "509", "name": "Tetris"]]]
    guard case .next(let change) = try progress(act, 200, found) else {
      Issue.record("the number is not used")
      return
    }
    #expect(
      Sent(change)
        == Sent(
          method: .patch, path: "/helix/channels?broadcaster_id=42", body: ["game_id": "509"]))
    #expect(
      try TwitchAct(act).progress(after: change, status: 204, .null, channel: "42")
        == .ended(.confirmed))
    #expect(
      try progress(act, 200, ["data": []])
        == .ended(.refused(reason: "Twitch has no category named Tetris")))
  }

  @Test func `long messages from Twitch are shortened`() throws {
    let body: JSONValue = ["message": .string(String(repeating: "ü", count: 5_000))]
    guard case .ended(.refused(let reason)) = try progress(PlatformAct(.mark), 400, body) else {
      Issue.record("the act is not refused")
      return
    }
    #expect(reason.utf8.count <= 256)
  }

  // MARK: Permissions

  @Test func `a token allows the acts of its scopes, and only the owner changes the title`() {
    let scopes: Set = ["user:write:chat", "channel:manage:broadcast", "chat:read"]
    #expect(TwitchAct.allowed(by: scopes, isOwner: false) == [.say, .reply, .mark])
    #expect(
      TwitchAct.allowed(by: scopes, isOwner: true)
        == [.say, .reply, .mark, .setTitle, .setCategory])
    #expect(TwitchAct.allowed(by: [], isOwner: true) == [])
    let all = Set(ActKind.allCases.map { TwitchAct.scope(of: $0) })
    #expect(TwitchAct.allowed(by: all, isOwner: true) == ActKind.allCases)
  }
}
