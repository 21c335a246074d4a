import LiveEvents
import Testing
import WireFormats

/// Tests that an unusable value of an optional field affects only that field.
@Suite struct OddFieldTests {
  /// A complete line of each type, and its optional members.
  static let native: [(line: String, optional: [String])] = [
    (
      #"{"type":"chat.message","id":"1","user":{"id":"u"},"text":"hi"}"#,
      [
        "user.name", "user.badges", "user.color", "replyTo", "bits", "channel", "action", "emotes",
        "kind", "ts", "platform", "source",
      ]
    ),
    (
      #"{"type":"chat.notice","kind":"raid","user":{"id":"u"},"count":2}"#,
      ["id", "user.name", "text", "group", "ts"]
    ),
    (
      // The properties of a message are read only if the notice has a text.
      #"{"type":"chat.notice","kind":"raid","user":{"id":"u"},"count":2,"text":"hi"}"#,
      ["user.badges", "user.color", "replyTo", "bits", "channel", "action", "emotes"]
    ),
    (
      #"{"type":"chat.timeout","user":{"id":"u","name":"n"}}"#, ["seconds", "ts", "user.badges"]
    ),
    (#"{"type":"chat.delete","id":"1"}"#, ["ts", "platform", "source"]),
    (#"{"type":"chat.clear"}"#, ["ts", "platform"]),
    (
      #"{"type":"chat.modes","slowSeconds":3}"#,
      ["emoteOnly", "followersOnlyMinutes", "subscribersOnly", "uniqueOnly", "ts"]
    ),
    (#"{"type":"follow","user":{"id":"u"}}"#, ["id", "user.name", "ts"]),
    (
      #"{"type":"redemption","user":{"id":"u"},"title":"t"}"#,
      ["id", "cost", "text", "emotes", "user.name", "ts"]
    ),
    (#"{"type":"announcement","text":"t"}"#, ["id", "emotes", "user", "ts"]),
    (
      #"{"type":"hypeTrain","phase":"begin","level":1}"#,
      ["total", "progress", "goal", "endsAt", "ts"]
    ),
    (
      #"{"type":"prediction","id":"p","title":"t","state":"open","options":["a","b"]}"#,
      ["totals", "winner", "endsAt", "ts"]
    ),
    (#"{"type":"poll.begin","id":"p","title":"t","options":["a"]}"#, ["endsAt", "ts"]),
    (#"{"type":"poll.end","id":"p"}"#, ["winner", "ts"]),
    (
      #"{"type":"stats","bitrateKbps":1}"#,
      ["framesPerSecond", "droppedFrames", "roundTripMs", "congestion", "ts"]
    ),
    (#"{"type":"viewers","count":1}"#, ["ts", "platform", "source"]),
    (
      #"{"type":"source.state","source":"s","state":"live"}"#,
      ["platform", "reason", "behindMs", "lost", "backfilled", "duplicate", "notShown"]
    ),
    (#"{"type":"waiting.join","user":{"id":"u"}}"#, ["user.name", "ts"]),
    (#"{"type":"recorder.progress","bytes":1,"durationMs":1}"#, ["done", "total", "ts"]),
  ]

  /// Values that are equivalent to an absent member.
  private static let silent = ["null", #""""#, "0", "false", "[]"]

  static let values = [
    "null", #""""#, #""abc""#, #""-1""#, "-1", "-0.5", "0", "1e308", "1e400",
    "99999999999999999999",
    "0.1", "true", "false", "[]", "{}", "[[1]]", #"{"a":null}"#, #""\u0000""#, #""\ud800""#,
    "\"" + String(repeating: "x", count: 300) + "\"", #"["a",1]"#, "[3,1]",
  ]

  @Test(arguments: native)
  func `a native line is an event whatever values its optional members have`(
    line: String, optional: [String]
  ) throws {
    let expected = try #require(decode(line).event)
    for member in optional {
      for value in Self.values {
        let odd = Self.line(line, with: member, value)
        let (outcome, remarks) = decodeWithRemarks(odd)
        let event = try #require(outcome.event, "\(odd)")
        #expect(remarks.allSatisfy { $0 == .field(member) }, "\(odd)")
        if !remarks.isEmpty { #expect(event == expected, "\(odd)") }
        // Some values are usable and give another event. Others are equivalent to an absent member.
        if event == expected, !Self.silent.contains(value) { #expect(remarks.count == 1, "\(odd)") }
      }
    }
  }

  /// Returns the line with one more member.
  private static func line(_ line: String, with member: String, _ value: String) -> String {
    guard member.hasPrefix("user.") else { return line.dropLast() + #","\#(member)":\#(value)}"# }
    let name = member.dropFirst(5)
    let bare = line.replacing(#","name":"n"}"#, with: "}")
    return bare.replacing(#""user":{"id":"u""#, with: #""user":{"id":"u","\#(name)":\#(value)"#)
  }

  static let tags: [(line: String, optional: [String])] = [
    (
      "@TAG;id=1;user-id=5;display-name=Ann :ann!ann@ann PRIVMSG #chan :hi",
      [
        "tmi-sent-ts", "rm-received-ts", "badges", "bits", "reply-parent-msg-id", "room-id",
        "source-room-id", "color", "emotes",
      ]
    ),
    ("@TAG;user-id=5 :ann!ann@ann PRIVMSG #chan :hi", ["id", "display-name"]),
    ("@TAG;id=1 :ann!ann@ann PRIVMSG #chan :hi", ["user-id", "login"]),
    (
      "@TAG;id=1;user-id=5;login=ann;msg-id=resub :t USERNOTICE #chan :hi",
      ["msg-param-cumulative-months", "tmi-sent-ts", "display-name", "badges", "emotes", "color"]
    ),
    ("@TAG;id=1;user-id=5;login=ann;msg-id=raid :t USERNOTICE #chan", ["msg-param-viewerCount"]),
    (
      "@TAG;id=1;user-id=5;login=ann;msg-id=submysterygift :t USERNOTICE #chan",
      ["msg-param-mass-gift-count", "msg-param-origin-id", "msg-param-community-gift-id"]
    ),
    (
      "@TAG;id=1;user-id=5;login=ann;msg-id=subgift :t USERNOTICE #chan",
      ["msg-param-sender-count", "msg-param-origin-id"]
    ),
    ("@TAG :t CLEARCHAT #chan :ann", ["ban-duration", "target-user-id", "tmi-sent-ts", "room-id"]),
    ("@TAG :t CLEARCHAT #chan", ["tmi-sent-ts", "room-id"]),
    ("@TAG;target-msg-id=1 :t CLEARMSG #chan :hi", ["tmi-sent-ts", "room-id", "login"]),
    (
      "@TAG;slow=3 :t ROOMSTATE #chan", ["emote-only", "followers-only", "r9k", "subs-only"]
    ),
  ]

  /// Valid values of tags that change the event of their line.
  private static let usable = [
    "bits": "5", "color": "#112233", "emotes": "25:0-1", "tmi-sent-ts": "1795464000000",
    "badges": "vip/1", "reply-parent-msg-id": "p", "ban-duration": "600",
    "msg-param-viewerCount": "9", "msg-param-mass-gift-count": "9",
    "msg-param-cumulative-months": "9", "emote-only": "1", "followers-only": "5", "r9k": "1",
    "subs-only": "1",
  ]

  static let tagValues = [
    "", "abc", "-1", "-6795364578871", "0", "+100", "1.5", "1e9", "99999999999999999999", "true",
    "null", "\\", "\\s", "\\:", ",", "/", "0-", "-", String(repeating: "x", count: 300), "é", "1=2",
  ]

  @Test(arguments: tags)
  func `an IRC line becomes an event whatever values its optional tags have`(
    line: String, optional: [String]
  )
    throws
  {
    for tag in optional {
      for value in Self.tagValues {
        let odd = line.replacing("TAG", with: "\(tag)=\(value)")
        let (outcome, remarks) = decodeWithRemarks(odd)
        #expect(outcome.event != nil, "\(odd)")
        #expect(remarks.allSatisfy { $0 == .field(tag) }, "\(odd)")
        // An escape without a meaning leaves an empty value, and 0 is the default of a count.
        guard let usable = Self.usable[tag], !["", "\\", "0"].contains(value) else { continue }
        let absent = decode(line.replacing("TAG", with: "other=1")).event
        #expect(decode(line.replacing("TAG", with: "\(tag)=\(usable)")).event != absent, "\(tag)")
        if outcome.event == absent { #expect(remarks == [.field(tag)], "\(odd)") }
      }
    }
  }

  @Test(arguments: [
    "@emotes=25:0-9;id=1;user-id=5 :ann!ann@ann PRIVMSG #chan :Kappa",
    "@emotes=25:0-9;user-id=5 :ann!ann@ann PRIVMSG #chan :Kappa",
    "@emotes=25:0-9;id=1;msg-id=announcement;user-id=5;login=ann :t USERNOTICE #chan :Kappa",
    "@emotes=25:0-4,2-3;id=1;user-id=5 :ann!ann@ann PRIVMSG #chan :Kappa",
    #"{"type":"chat.message","id":"1","user":{"id":"u"},"text":"hi","emotes":[0,3]}"#,
    #"{"type":"announcement","text":"hi","emotes":[0,3]}"#,
  ])
  func `emotes beyond the text or overlapping other emotes are counted`(line: String) {
    let (outcome, remarks) = decodeWithRemarks(line)
    #expect(outcome.event != nil)
    #expect(remarks == [.field("emotes")])
  }

  @Test func `an unusable number in a line is counted`() {
    let line = "@bits=abc;id=1;tmi-sent-ts=-1;user-id=5 :ann!ann@ann PRIVMSG #chan :hi"
    let (outcome, remarks) = decodeWithRemarks(line)
    #expect(outcome.event?.timestamp == 7)
    #expect(Set(remarks) == [.field("bits"), .field("tmi-sent-ts")])
  }

  @Test(arguments: [
    ("@id=1;msg-id=ritual;user-id=5;login=ann :t USERNOTICE #chan", "ritual"),
    (#"{"type":"wave"}"#, "wave"),
  ])
  func `an unknown kind of event is counted by its name`(line: String, name: String) {
    let (outcome, remarks) = decodeWithRemarks(line)
    #expect(outcome.reason == .unknownType)
    #expect(remarks == [.kind(name)])
  }
}

private func decodeWithRemarks(_ line: String) -> (Outcome, [DecodingRemark]) {
  var decoder = LineDecoder()
  let slab = ByteSlab(Array(line.utf8))
  let decoded = decoder.decode(
    slab, line: ByteSlab.Slice(offset: 0, count: slab.count), arrival: 7)
  return (outcome(decoded) { decoder.name(of: $0).description }, decoder.removeRemarks())
}
