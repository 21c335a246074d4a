import LiveEvents
import Testing
import WireFormats

private func message(_ tags: String, _ text: String) -> String {
  "@\(tags) :ann!ann@ann.tmi.twitch.tv PRIVMSG #Chan :\(text)"
}

private func notice(_ tags: String) -> String {
  "@id=n;user-id=5;display-name=Ann;tmi-sent-ts=1700000000009;\(tags) :tmi.twitch.tv USERNOTICE #chan"
}

private let ann = Person(id: "5", name: "Ann")

@Suite struct TwitchIRCTests {
  @Test func `a Twitch message is decoded with all its properties`() {
    let tags =
      "badges=subscriber/5,premium/1;bits=100;color=;display-name=A\\sn\\:n;emotes=;"
      + "id=m1;reply-parent-msg-id=m0;tmi-sent-ts=1568505600501;turbo;user-id=5;user-type="
    #expect(
      decode(message(tags, "hé : you"))
        == .event(
          .chat(
            .message(
              ChatMessage(
                id: "m1", userID: "5", userName: "A n;n", badges: "subscriber/5,premium/1",
                text: "hé : you", replyTo: "m0", bits: 100))),
          at: 1_568_505_600_501, room: "chan"))
  }

  @Test(
    arguments: [("#1E90FF", 0x1E90FF), ("#000000", 0), ("", nil), ("red", nil)]
      as [(String, UInt32?)])
  func `a valid colour of a name is decoded, and an invalid colour is ignored`(
    text: String, rgb: UInt32?
  ) {
    for bits in ["", "bits=5;"] {
      let event = decode(message("\(bits)color=\(text);id=1;user-id=5;display-name=Ann", "x")).event
      guard case .chat(.message(let message)) = event?.payload else {
        Issue.record("no message")
        return
      }
      #expect(message.color?.rgb == rgb)
      #expect(message.bits == (bits.isEmpty ? 0 : 5))
    }
  }

  @Test(
    arguments: [
      ("25:0-4,13-17/emotesv2_0a-1:6-11", [0..<5, 6..<12, 13..<18]),
      ("1902:13-17/25:0-4", [0..<5, 13..<18]),
      ("25:0-4,2-6", [0..<5]), ("25:17-18", []), ("25:4-0", []), ("25:0-99999999999999999999", []),
      ("25:-4", []), ("25:0-", []), ("25:,,/:/", []), ("25", []), ("0-4", []),
      ("25:x-4", []), ("25:0-4,x", []), ("25:00000000000000000000-04", [0..<5]),
    ] as [(String, [Range<Int>])])
  func `positions of emotes are decoded, and only the invalid positions are left out`(
    tag: String, emotes: [Range<Int>]
  ) {
    for other in ["", "bits=5;", "source-room-id=1;room-id=2;"] {
      let event = decode(
        message(
          "\(other)emotes=\(tag);id=1;user-id=5;display-name=Ann", "Kappa h\u{1F600}llo! Kappa")
      ).event
      guard case .chat(.message(let message)) = event?.payload else {
        Issue.record("no message")
        return
      }
      #expect(message.emotes == emotes)
      #expect(message.bits == (other.hasPrefix("bits") ? 5 : 0))
      #expect(message.channel == (other.hasPrefix("source") ? "1" : ""))
    }
  }

  @Test func `an announcement keeps its emotes, but Twitch's own text has no emotes`() {
    let tags = "emotes=25:0-4;id=n;user-id=5;login=ann;msg-id=announcement"
    let said = Announcement(
      user: Person(id: "5", name: "ann"), text: "Kappa hello", emotes: [0..<5], id: "n")
    #expect(
      decode("@\(tags) :t USERNOTICE #chan :Kappa hello").event?.payload
        == .activity(.announcement(said)))
    let silent = Announcement(user: said.user, text: "ann earned", id: "n")
    #expect(
      decode("@\(tags);system-msg=ann\\searned :t USERNOTICE #chan").event?.payload
        == .activity(.announcement(silent)))
  }

  @Test func `a message with too many emotes keeps the first emotes`() {
    let many = (0..<10_000).map { "\(2 * $0)-\(2 * $0)" }.joined(separator: ",")
    // The positions must fit into a line.
    let given = "25:" + many.prefix(40_000)
    let text = String(repeating: "a ", count: 1_000)
    let event = decode(message("emotes=\(given);id=1;user-id=5;display-name=Ann", text)).event
    guard case .chat(.message(let message)) = event?.payload else {
      Issue.record("no message")
      return
    }
    #expect(message.emotes == (0..<EmoteRanges.limit).map { 2 * $0..<2 * $0 + 1 })
  }

  @Test func `a person without a display name is shown under the login`() {
    let event = decode(message("id=1;user-id=5;display-name=", "x")).event
    #expect(
      event?.payload
        == .chat(
          .message(
            ChatMessage(id: "1", userID: "5", userName: "ann", text: "x"))))
    #expect(event?.timestamp == 7)
  }

  @Test func `a message sent with /me is marked as such, and its text has no wrapper`() {
    let event = decode(message("id=1;user-id=5;display-name=A", "\u{1}ACTION waves\u{1}")).event
    #expect(
      event?.payload
        == .chat(
          .message(
            ChatMessage(id: "1", userID: "5", userName: "A", text: "waves", isAction: true))))
  }

  @Test(arguments: [
    ("room-id=7;source-room-id=8", "8"), ("source-room-id=8;room-id=7", "8"),
    ("source-room-id=8", "8"), (#"room-id=7;source-room-id=a\sb"#, "a b"),
    ("room-id=7;source-room-id=7", ""), ("room-id=7;source-room-id=", ""),
    (#"room-id=7;source-room-id=\"#, ""), ("room-id=7", ""),
  ])
  func `a message of a shared chat names its channel if it is from another channel`(
    tags: String, channel: String
  ) {
    let event = decode(message("id=1;user-id=5;reply-parent-msg-id=0;\(tags)", "hi")).event
    #expect(
      event?.payload
        == .chat(
          .message(
            ChatMessage(
              id: "1", userID: "5", userName: "ann", text: "hi", replyTo: "0", channel: channel))))
  }

  // By RFC 1459, section 2.3.1, a colon before the last parameter is not part of the parameter.
  @Test(arguments: [
    ("#chan Kappa", "Kappa"), ("#chan  Kappa ", "Kappa"), ("#chan :Kappa ", "Kappa "),
    ("#chan a :b c", "b c"), ("#chan a b", "b"), ("#chan :", ""), ("#chan a:b", "a:b"),
    ("#chan 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16  17", "15 16  17"),
    ("#chan 2 3 4 5 6 7 8 9 10 11 12 13 14 :15 :16", "15 :16"),
  ])
  func `the text of a message is the last parameter`(parameters: String, text: String) {
    let event = decode("@id=1;user-id=5;display-name=A :a!a@a PRIVMSG \(parameters)").event
    #expect(
      event?.payload
        == .chat(.message(ChatMessage(id: "1", userID: "5", userName: "A", text: text))))
  }

  @Test func `a stored line has its time of sending, or else its time of receipt`() {
    let kept = "historical=1;id=1;user-id=5;rm-received-ts=1700000000008"
    #expect(decode(message(kept, "x")).event?.timestamp == 1_700_000_000_008)
    #expect(
      decode(message(kept + ";tmi-sent-ts=1700000000006", "x")).event?.timestamp
        == 1_700_000_000_006)
    #expect(
      decode("@historical=1;rm-received-ts=1700000000008;target-user-id=9 :t CLEARCHAT #chan bob")
        == .event(
          .chat(.timeout(ChatTimeout(user: Person(id: "9", name: "bob"), seconds: nil))),
          at: 1_700_000_000_008,
          room: "chan"))
  }

  static let notices: [(String, ChatNotice)] = [
    (
      "msg-id=sub;msg-param-cumulative-months=1",
      ChatNotice(kind: .subscribe, user: ann, count: 1)
    ),
    ("msg-id=primepaidupgrade", ChatNotice(kind: .subscribe, user: ann, count: 1)),
    (
      "msg-id=resub;msg-param-cumulative-months=10;system-msg=10\\smonths!",
      ChatNotice(kind: .resubscribe, user: ann, count: 10)
    ),
    (
      "msg-id=subgift;msg-param-origin-id=a\\sb;msg-param-sender-count=0",
      ChatNotice(kind: .gift, user: ann, count: 1, group: "a b")
    ),
    (
      "msg-id=subgift;msg-param-origin-id=a;msg-param-sender-count=3",
      ChatNotice(kind: .gift, user: ann, count: 1)
    ),
    (
      "msg-id=submysterygift;msg-param-mass-gift-count=50;msg-param-origin-id=a\\sb",
      ChatNotice(kind: .giftBomb, user: ann, count: 50, group: "a b")
    ),
    (
      "msg-id=anonsubmysterygift;msg-param-mass-gift-count=5;msg-param-community-gift-id=77",
      ChatNotice(kind: .giftBomb, user: ann, count: 5, group: "77")
    ),
    ("msg-id=raid;msg-param-viewerCount=321", ChatNotice(kind: .raid, user: ann, count: 321)),
  ]

  @Test(arguments: notices)
  func `each kind of Twitch notice is decoded`(
    tags: String, expected: ChatNotice
  ) {
    var expected = expected
    expected.id = "n"
    #expect(
      decode(notice(tags))
        == .event(.chat(.notice(expected)), at: 1_700_000_000_009, room: "chan"))
    expected.message = ChatMessage(
      id: "n", userID: "5", userName: "Ann", text: "Kappa hello", emotes: [0..<5],
      kind: expected.kind.rawValue)
    #expect(
      decode(notice("emotes=25:0-4;" + tags) + " :Kappa hello").event?.payload
        == .chat(.notice(expected)))
  }

  @Test(arguments: [
    ("viewermilestone", "viewermilestone"), ("ritual", "ritual"),
    ("sharedchatnotice;source-msg-id=viewermilestone", "viewermilestone"),
  ])
  func `a notice of an unknown kind that has a text becomes a message that names the kind`(
    tags: String, kind: String
  ) {
    #expect(
      decode(notice("msg-id=" + tags) + " :my words").event?.payload
        == .chat(
          .message(
            ChatMessage(id: "n", userID: "5", userName: "Ann", text: "my words", kind: kind))))
  }

  @Test(arguments: [
    ("announcement", " :read the rules", "read the rules"),
    ("charitydonation", "", "Ann: Donated USD 100"), ("bitsbadgetier", " :my badge", "my badge"),
  ])
  func `Twitch notices about the channel become announcements`(
    kind: String, words: String, text: Text
  ) {
    #expect(
      decode(notice("msg-id=\(kind);system-msg=Ann:\\sDonated\\sUSD\\s100") + words)
        .event?.payload
        == .activity(.announcement(Announcement(user: ann, text: text, id: "n"))))
  }

  @Test
  func `a message without identifiers gets a generated one, and the login as its person`() {
    func message(_ line: String) -> ChatMessage? {
      guard case .chat(.message(let message)) = decode(line).event?.payload else { return nil }
      return message
    }
    let first = message("@badges= :ann!ann@ann PRIVMSG #chan :hi")
    #expect(first?.userID == "ann" && first?.text == "hi")
    #expect(first?.id == message("@badges= :ann!ann@ann PRIVMSG #chan :hi")?.id)
    #expect(first?.id != message("@badges= :ann!ann@ann PRIVMSG #chan :ho")?.id)
    #expect(message(":ann!ann@ann PRIVMSG #chan :no tags")?.userID == "ann")
  }

  @Test func `a time-out without an identifier applies to a name`() {
    #expect(
      decode("@ban-duration=x :t CLEARCHAT #chan :bob").event?.payload
        == .chat(.timeout(ChatTimeout(user: Person(id: "", name: "bob"), seconds: nil))))
  }

  @Test func `moderation on Twitch is decoded`() {
    let clear = ":tmi.twitch.tv CLEARCHAT #chan"
    let user = Person(id: "9", name: "bob")
    let cases: [(String, LiveEvent.Payload)] = [
      ("@room-id=1;tmi-sent-ts=1700000000003 \(clear)", .chat(.clear)),
      (
        "@ban-duration=150;target-user-id=9;tmi-sent-ts=1700000000003 \(clear) :bob",
        .chat(.timeout(ChatTimeout(user: user, seconds: 150)))
      ),
      (
        "@target-user-id=9;tmi-sent-ts=1700000000003 \(clear) :bob",
        .chat(.timeout(ChatTimeout(user: user, seconds: nil)))
      ),
      (
        "@login=bob;room-id=;target-msg-id=m1;tmi-sent-ts=1700000000003 :tmi.twitch.tv CLEARMSG #chan :bad",
        .chat(.delete(messageID: "m1"))
      ),
    ]
    for (line, payload) in cases {
      #expect(decode(line) == .event(payload, at: 1_700_000_000_003, room: "chan"), "\(line)")
    }
  }

  @Test func `chat modes are decoded, whether all or only the changed modes are named`() {
    let end = " :tmi.twitch.tv ROOMSTATE #chan"
    #expect(
      decode("@emote-only=0;followers-only=-1;r9k=0;room-id=1;slow=0;subs-only=1" + end)
        == .event(
          .chat(
            .modes(
              ChatModes(
                slowSeconds: 0, emoteOnly: false, followersOnlyMinutes: -1, subscribersOnly: true,
                uniqueOnly: false))), room: "chan"))
    #expect(
      decode("@room-id=1;slow=30" + end)
        == .event(.chat(.modes(ChatModes(slowSeconds: 30))), room: "chan"))
  }

  @Test(arguments: [
    "PING :tmi.twitch.tv", ":tmi.twitch.tv PONG tmi.twitch.tv :x", ":tmi.twitch.tv 001 me :hi",
    ":tmi.twitch.tv CAP * ACK :twitch.tv/tags", "@emote-sets=0 :tmi.twitch.tv GLOBALUSERSTATE",
    ":tmi.twitch.tv RECONNECT", "  PING", "PING",
  ])
  func `lines of the IRC protocol that contain no event are recognised`(line: String) {
    #expect(decode(line) == .rejected(.protocolLine))
  }

  @Test func `protocol lines that name a channel are counted in its room`() {
    #expect(decode(":a!a@a JOIN #Chan") == .rejected(.protocolLine, room: "chan"))
    #expect(
      decode("@msg-id=slow_on :tmi.twitch.tv NOTICE #chan :slow")
        == .rejected(.protocolLine, room: "chan"))
    #expect(decode(notice("msg-id=ritual")) == .rejected(.unknownType, room: "chan"))
  }

  @Test(arguments: [
    "@", "@id=1", "@id=1;user-id=5;display-na", "@id=1;user-id=5; ", "@id=1 :ann", "@id=1 :ann ",
    ":", ": ", ":ann", "@id=1;user-id=5 :ann!a@a PRIVMSG",
    "@id=1;user-id=5 :ann!a@a PRIVMSG chan :x",
    "@id=1 :ann NOSUCH #chan", ":tmi.twitch.tv 01 me", ":a 0x1 b",
  ])
  func `a line that violates the IRC grammar is malformed`(line: String) {
    #expect(decode(line) == .rejected(.malformedIRC))
  }

  @Test(arguments: [
    "@id=1;user-id=5 :ann!a@a PRIVMSG #chan", "@id=1 PRIVMSG #chan :nobody", notice("x=y"),
    "@room-id=1 :t CLEARMSG #chan :x", "@room-id=1 :t ROOMSTATE #chan",
    "@slow=fast :t ROOMSTATE #chan", "@r9k=2 :t ROOMSTATE #chan",
  ])
  func `a line without a required part of its command is malformed and counts in its room`(
    line: String
  ) {
    #expect(decode(line) == .rejected(.malformedIRC, room: "chan"))
  }

  @Test func `a line whose channel is not a valid room name is rejected`() {
    for channel in ["#", "#a/b", "#-a", "#ä", "#" + String(repeating: "x", count: 65)] {
      #expect(decode("@id=1;user-id=5 :a!a@a PRIVMSG \(channel) :x") == .rejected(.invalidRoom))
    }
  }

  @Test func `a line that is not UTF-8 is rejected`() {
    let line = Array(message("id=1;user-id=5", "x?").utf8).map { $0 == 0x3F ? 0xE9 : $0 }
    #expect(decode(line) == .rejected(.invalidUTF8))
  }
}
