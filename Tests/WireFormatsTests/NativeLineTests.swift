import LiveEvents
import Testing
import WireFormats

private let ann = Person(id: "u1", name: "Ann")

@Suite struct NameLengthTests {
  @Test(arguments: [
    #"{"type":"chat.message","id":"m","user":{"id":"NAME","name":"n"},"text":"t"}"#,
    #"{"type":"chat.message","id":"m","user":{"id":"u","name":"NAME"},"text":"t"}"#,
    #"{"type":"chat.message","id":"m","user":{"id":"u","name":"n"},"text":"t","channel":"NAME"}"#,
    #"{"type":"waiting.join","user":{"id":"u","name":"NAME"}}"#,
    #"{"type":"waiting.leave","user":"NAME"}"#, #"{"type":"tap","control":"NAME"}"#,
    #"{"type":"meter","input":"NAME","levels":[0.5]}"#,
    #"{"type":"poll.begin","id":"NAME","title":"t","options":["a"]}"#,
    #"{"type":"poll.begin","id":"p","title":"t","options":["a","NAME"]}"#,
    #"{"type":"poll.votes","id":"NAME","totals":[1]}"#, #"{"type":"poll.end","id":"NAME"}"#,
    "@id=m;user-id=NAME;display-name=n :n!n@n PRIVMSG #main :hello",
    "@id=m;user-id=u;display-name=NAME :n!n@n PRIVMSG #main :hello",
    "@id=m;user-id=u;display-name=n;room-id=1;source-room-id=NAME :n!n@n PRIVMSG #main :hello",
    "@target-user-id=u :tmi.twitch.tv CLEARCHAT #main :NAME",
    "@msg-id=subgift;user-id=u;login=n;msg-param-community-gift-id=NAME :tmi.twitch.tv USERNOTICE #main",
  ])
  func `names in native lines have at most 256 bytes`(line: String) {
    func reason(_ count: Int) -> RejectionReason? {
      decode(line.replacing("NAME", with: String(repeating: "x", count: count))).reason
    }
    #expect(reason(256) == nil)
    // An optional name that is too long is ignored.
    let optional = [
      "user-id=NAME", "display-name=NAME", "source-room-id", "gift-id", ":NAME", #""name":"NAME""#,
      #""channel":"NAME""#,
    ]
    let isNeeded = !optional.contains { line.contains($0) }
    #expect(
      reason(257)
        == (isNeeded ? line.hasPrefix("@") ? .malformedIRC : .invalidValue : nil))
  }
}

/// Tests that an empty identifier counts as absent, in every notation.
@Suite struct EmptyTagTests {
  @Test(arguments: [
    #"@target-msg-id=\;login=n :tmi.twitch.tv CLEARMSG #main :hello"#,
    #"@id=m;user-id=\ PRIVMSG #main :hello"#,
  ])
  func `a lone backslash is rejected as an identifier`(line: String) {
    #expect(decode(line).reason == .malformedIRC)
  }

  @Test func `a gift whose group is a lone backslash has no group`() {
    let line =
      #"@msg-id=subgift;user-id=u;login=n;msg-param-community-gift-id=\ :tmi.twitch.tv USERNOTICE #main"#
    guard case .chat(.notice(let notice))? = decode(line).event?.payload else {
      Issue.record("\(decode(line))")
      return
    }
    #expect(notice.group == nil)
  }
}

/// A case for every type: a line with all members, its event, and its required members.
struct NativeCase: Sendable {
  var line: String
  var payload: LiveEvent.Payload
  var required: [String]

  private static func note(about id: Text, _ text: Text) -> PersonNote {
    guard let note = PersonNote(about: PersonReference(id: id, platform: "kick"), text) else {
      preconditionFailure("an example of a note is not possible")
    }
    return note
  }

  init(_ line: String, _ payload: LiveEvent.Payload, required: [String] = []) {
    self.line = line
    self.payload = payload
    self.required = required
  }

  static let all: [NativeCase] = [
    NativeCase(
      ##"{"type":"chat.message","id":"m1","user":{"id":"u1","name":"Ann","badges":"a/1,b/2","color":"#1e90fF"},"text":"hi","replyTo":"m0","bits":100,"channel":"n\u00e9xt","action":true,"emotes":[1,2,0,1]}"##,
      .chat(
        .message(
          ChatMessage(
            id: "m1", userID: "u1", userName: "Ann", badges: "a/1,b/2",
            color: NameColor(rgb: 0x1E90FF), text: "hi", replyTo: "m0", bits: 100, channel: "néxt",
            isAction: true, emotes: [0..<1, 1..<2]))),
      required: [
        #""id":"m1""#,
        ##""user":{"id":"u1","name":"Ann","badges":"a/1,b/2","color":"#1e90fF"}"##,
        #""text":"hi""#,
      ]),
    NativeCase(
      #"{"type":"chat.delete","id":"m1"}"#, .chat(.delete(messageID: "m1")),
      required: [#""id":"m1""#]),
    NativeCase(#"{"type":"chat.clear"}"#, .chat(.clear)),
    NativeCase(
      #"{"type":"chat.timeout","user":{"id":"u1","name":"Ann"},"seconds":60}"#,
      .chat(.timeout(ChatTimeout(user: ann, seconds: 60))),
      required: [#""user":{"id":"u1","name":"Ann"}"#]),
    NativeCase(
      #"{"type":"chat.timeout","user":"u1"}"#,
      .chat(.timeout(ChatTimeout(user: Person(id: "u1", name: "u1"), seconds: nil)))),
    NativeCase(
      #"{"type":"chat.notice","kind":"giftBomb","user":{"id":"u1","name":"Ann"},"count":50,"group":"g"}"#,
      .chat(.notice(ChatNotice(kind: .giftBomb, user: ann, count: 50, group: "g"))),
      required: [#""kind":"giftBomb""#, #""user":{"id":"u1","name":"Ann"}"#, #""count":50"#]),
    NativeCase(
      #"{"type":"chat.modes","slowSeconds":5,"emoteOnly":true,"followersOnlyMinutes":-1,"subscribersOnly":false,"uniqueOnly":true}"#,
      .chat(
        .modes(
          ChatModes(
            slowSeconds: 5, emoteOnly: true, followersOnlyMinutes: -1, subscribersOnly: false,
            uniqueOnly: true)))),
    NativeCase(
      #"{"type":"reaction","kind":"heart","count":50}"#,
      .header(.reaction(kind: "heart", count: 50)),
      required: [#""kind":"heart""#, #""count":50"#]),
    NativeCase(
      #"{"type":"viewers","count":12}"#, .header(.viewers(count: 12)), required: [#""count":12"#]),
    NativeCase(
      #"{"type":"title","title":"Live \"now\" \ud83d\ude00"}"#, .header(.title("Live \"now\" 😀")),
      required: [#""title":"Live \"now\" \ud83d\ude00""#]),
    NativeCase(
      #"{"type":"category","title":"Art"}"#, .header(.category("Art")),
      required: [#""title":"Art""#]),
    NativeCase(
      #"{"type":"slider","control":"zoom","phase":"change","value":0.25}"#,
      .control(.slider(Slider(control: "zoom", phase: .change, value: 0.25))),
      required: [#""control":"zoom""#, #""phase":"change""#, #""value":0.25"#]),
    NativeCase(
      #"{"type":"control.state","control":"zoom","value":0.25}"#,
      .control(.state(control: "zoom", .value(0.25))),
      required: [#""control":"zoom""#, #""value":0.25"#]),
    NativeCase(
      #"{"type":"control.state","control":"mute","on":false}"#,
      .control(.state(control: "mute", .position(on: false))), required: [#""control":"mute""#]),
    NativeCase(
      #"{"type":"tap","control":"mute","on":true}"#, .control(.tap(control: "mute", on: true)),
      required: [#""control":"mute""#]),
    NativeCase(
      #"{"type":"stats","bitrateKbps":6000.5,"framesPerSecond":59.94,"droppedFrames":3,"roundTripMs":24,"congestion":0.125}"#,
      .liveRoomStats(
        StreamStatistics(
          bitrateKbps: 6000.5, framesPerSecond: 59.94, droppedFrames: 3, roundTripMilliseconds: 24,
          congestion: 0.125))),
    NativeCase(
      #"{"type":"meter","input":"mic","levels":[0,0.5, 1.0 ,1e-1]}"#,
      .control(.meter(input: "mic", levels: [0, 0.5, 1, 0.1])),
      required: [#""input":"mic""#, #""levels":[0,0.5, 1.0 ,1e-1]"#]),
    NativeCase(
      #"{"type":"recorder.state","state":"recording"}"#, .recorder(.state(.recording)),
      required: [#""state":"recording""#]),
    NativeCase(
      #"{"type":"recorder.progress","bytes":123456789012,"durationMs":61000.7,"done":3,"total":10}"#,
      .recorder(
        .progress(
          RecorderProgress(bytes: 123_456_789_012, durationMilliseconds: 61000, done: 3, total: 10))
      ),
      required: [#""bytes":123456789012"#, #""durationMs":61000.7"#]),
    NativeCase(
      #"{"type":"poll.begin","id":"p1","title":"Which \"map\"?","options":["old","n\u00e9w"],"endsAt":1700000060000.5}"#,
      .poll(
        .begin(
          PollQuestion(
            id: "p1", title: "Which \"map\"?", options: ["old", "néw"],
            endsAt: 1_700_000_060_000))),
      required: [
        #""id":"p1""#, #""title":"Which \"map\"?""#, #""options":["old","n\u00e9w"]"#,
      ]),
    NativeCase(
      #"{"type":"poll.begin","id":"p1","title":"","options":["yes","yes"]}"#,
      .poll(.begin(PollQuestion(id: "p1", title: "", options: ["yes", "yes"])))),
    NativeCase(
      #"{"type":"poll.votes","id":"p1","totals":[0,12, 3.0 ,1e9]}"#,
      .poll(.votes(pollID: "p1", totals: [0, 12, 3, 1_000_000_000])),
      required: [#""id":"p1""#, #""totals":[0,12, 3.0 ,1e9]"#]),
    NativeCase(
      #"{"type":"poll.end","id":"p1","winner":31}"#, .poll(.end(pollID: "p1", winner: 31)),
      required: [#""id":"p1""#]),
    NativeCase(#"{"type":"poll.end","id":"p1"}"#, .poll(.end(pollID: "p1", winner: nil))),
    NativeCase(
      #"{"type":"source.state","source":"irc","state":"behind","platform":"twitch","reason":"slow","behindMs":1500.5,"lost":1,"backfilled":2,"duplicate":3,"notShown":4}"#,
      .source(
        .state(
          SourceHealth(
            source: "irc", state: .behind, platform: "twitch", reason: "slow",
            behindMilliseconds: 1_500, lost: 1, backfilled: 2, duplicate: 3, notShown: 4)))),
    NativeCase(
      #"{"type":"source.state","source":"irc","state":"live"}"#,
      .source(.state(SourceHealth(source: "irc", state: .live)))),
    NativeCase(
      #"{"type":"gap","source":"irc","from":5,"to":5,"reason":""}"#,
      .source(.gap(MissedTime(source: "irc", from: 5, to: 5, reason: "")))),
    NativeCase(
      #"{"type":"follow","user":{"id":"u","name":"n"},"id":"f"}"#,
      .activity(.follow(user: Person(id: "u", name: "n"), id: "f"))),
    NativeCase(
      #"{"type":"redemption","user":{"id":"u","name":"n"},"title":"Hat","cost":5,"text":"hi","emotes":[0,2],"id":"r"}"#,
      .activity(
        .redemption(
          Redemption(
            user: Person(id: "u", name: "n"), title: "Hat", cost: 5, text: "hi", emotes: [0..<2],
            id: "r")))),
    NativeCase(
      #"{"type":"announcement","text":"Soon"}"#,
      .activity(.announcement(Announcement(text: "Soon")))),
    NativeCase(
      #"{"type":"announcement","text":"Soon Kappa","emotes":[5,10]}"#,
      .activity(.announcement(Announcement(text: "Soon Kappa", emotes: [5..<10])))),
    NativeCase(
      #"{"type":"hypeTrain","phase":"progress","level":2,"total":90,"progress":3,"goal":9,"endsAt":7}"#,
      .activity(
        .hypeTrain(
          HypeTrain(phase: .progress, level: 2, total: 90, progress: 3, goal: 9, endsAt: 7)))),
    NativeCase(
      #"{"type":"prediction","id":"p","title":"Who?","state":"resolved","options":["a","b"],"totals":[1,2],"winner":1,"endsAt":9}"#,
      .activity(
        .prediction(
          Prediction(
            id: "p", title: "Who?", state: .resolved, options: ["a", "b"], totals: [1, 2],
            winner: 1, endsAt: 9)))),
    NativeCase(
      #"{"type":"goal","title":"followers","count":3,"target":9}"#,
      .activity(.goal(Goal(title: "followers", count: 3, target: 9)))),
    NativeCase(
      #"{"type":"host.activity","activity":4,"handling":"pin"}"#,
      .activity(.handle(number: 4, .pin))),
    NativeCase(
      #"{"type":"waiting.join","user":{"id":"u1","name":"Ann"}}"#, .waitingRoom(.join(ann)),
      required: [#""user":{"id":"u1","name":"Ann"}"#]),
    NativeCase(
      #"{"type":"waiting.leave","user":{"id":"u1","name":"Ann"}}"#, .waitingRoom(.leave(ann)),
      required: [#""user":{"id":"u1","name":"Ann"}"#]),
    NativeCase(
      #"{"type":"waiting.admit","user":{"id":"u1","name":"Ann"}}"#, .waitingRoom(.admitted(ann)),
      required: [#""user":{"id":"u1","name":"Ann"}"#]),
    NativeCase(
      #"{"type":"waiting.schedule","startsAt":1700000000000.5}"#,
      .waitingRoom(.schedule(startsAt: 1_700_000_000_000))),
    NativeCase(#"{"type":"waiting.capacity","count":20}"#, .waitingRoom(.capacity(20))),
    NativeCase(
      #"{"type":"waiting.pace","perSecond":2.5}"#, .waitingRoom(.pace(perSecond: 2.5))),
    NativeCase(#"{"type":"waiting.pace"}"#, .waitingRoom(.pace(perSecond: nil))),
    NativeCase(
      #"{"type":"host.admit","user":{"id":"u1","name":"Ann"}}"#, .waitingRoom(.admit(.person("u1")))
    ),
    NativeCase(
      #"{"type":"host.admit","user":"u1","all":false}"#, .waitingRoom(.admit(.person("u1")))),
    NativeCase(#"{"type":"host.admit","all":true}"#, .waitingRoom(.admit(.all))),
    NativeCase(#"{"type":"host.admit"}"#, .waitingRoom(.admit(.next))),
    NativeCase(
      #"{"type":"host.set","control":"zoom","value":0.25}"#,
      .control(.set(control: "zoom", value: 0.25)),
      required: [#""control":"zoom""#, #""value":0.25"#]),
    NativeCase(
      #"{"type":"host.filter","user":"u1","words":"new \"song\"","mentionsOnly":true}"#,
      .chat(
        .filter(MessageFilter(person: "u1", words: "new \"song\"", mentionsOnly: true)))),
    NativeCase(#"{"type":"host.filter"}"#, .chat(.filter(MessageFilter()))),
    NativeCase(
      #"{"type":"host.highlight","names":["Ann","B\u00f6b"]}"#,
      .chat(.highlight(names: ["Ann", "Böb"])), required: [#""names":["Ann","B\u00f6b"]"#]),
    NativeCase(
      #"{"type":"host.scroll","position":"back"}"#, .chat(.scroll(.back)),
      required: [#""position":"back""#]),
    NativeCase(
      #"{"type":"host.thread","message":"m1"}"#, .chat(.openThread(messageID: "m1"))),
    NativeCase(
      #"{"type":"host.person","user":"u1","platform":"kick"}"#,
      .chat(.openPerson(PersonReference(id: "u1", platform: "kick")))),
    NativeCase(#"{"type":"host.person"}"#, .chat(.openPerson(nil))),
    NativeCase(
      #"{"type":"host.note","user":"u1","platform":"kick","text":"a \"note\""}"#,
      .chat(.notePerson(note(about: "u1", #"a "note""#))),
      required: [#""user":"u1""#, #""text":"a \"note\"""#]),
    NativeCase(
      #"{"type":"host.notice","notice":3,"handling":"pin"}"#, .chat(.handleNotice(number: 3, .pin)),
      required: [#""notice":3"#, #""handling":"pin""#]),
    NativeCase(
      #"{"type":"stream","state":"live"}"#, .stream(.live), required: [#""state":"live""#]),
  ]
}

@Suite struct NativeLineTests {
  @Test(arguments: NativeCase.all)
  func `every event type is decoded with all its members`(example: NativeCase) {
    #expect(decode(example.line) == .event(example.payload))
  }

  @Test(arguments: NativeCase.all)
  func `room and timestamp may be anywhere in the line`(example: NativeCase) {
    let first = "{\"room\":\"r.1\",\"ts\":1700000000123," + example.line.dropFirst()
    let last = example.line.dropLast() + " , \"ts\" : 1700000000123.9 ,\t\"room\" : \"r.1\" } "
    let expected = Outcome.event(example.payload, at: 1_700_000_000_123, room: "r.1")
    #expect(decode(first) == expected)
    #expect(decode(String(last)) == expected)
  }

  @Test(arguments: NativeCase.all)
  func `a line whose required member is absent or null is rejected, and counts in its room`(
    example: NativeCase
  ) {
    for member in example.required {
      let absent = example.line.replacing("," + member, with: "", maxReplacements: 1)
      #expect(absent != example.line, "\(member)")
      #expect(decode(absent) == .rejected(.missingMember, room: "main"), "\(absent)")
      let key = member.prefix { $0 != ":" }
      let null = example.line.replacing(member, with: key + ":null")
      #expect(decode(null) == .rejected(.missingMember, room: "main"), "\(null)")
    }
  }

  @Test(arguments: NativeCase.all)
  func `a line whose required member has another type is rejected for the invalid value`(
    example: NativeCase
  ) {
    for member in example.required {
      let key = member.prefix { $0 != ":" }
      let wrong = example.line.replacing(member, with: key + ":[{}]")
      #expect(decode(wrong) == .rejected(.invalidValue, room: "main"), "\(wrong)")
    }
  }

  @Test(arguments: NativeCase.all)
  func `unknown members with any values are ignored`(example: NativeCase) {
    let extra = #""x":[1,{"y":[[],{},"\\"]},-0.5e+3,true,false,null],"idx":"a","":0,"#
    #expect(decode("{" + extra + example.line.dropFirst()) == .event(example.payload))
  }

  @Test(arguments: NativeCase.all)
  func `a line that is truncated anywhere is malformed`(example: NativeCase) {
    for length in 1..<example.line.utf8.count {
      let reason = decode(example.line.utf8.prefix(length)).reason
      #expect(reason == .malformedJSON)
    }
  }

  @Test(arguments: [
    #"{"type":"viewers","count":-1}"#, #"{"type":"viewers","count":1.5}"#,
    #"{"type":"viewers","count":1000000001}"#, #"{"type":"viewers","count":99999999999999999999}"#,
    #"{"type":"viewers","count":1e400}"#, #"{"type":"viewers","count":"1"}"#,
    #"{"type":"viewers","count":true}"#,
    #"{"type":"slider","control":"z","phase":"change","value":1.01}"#,
    #"{"type":"slider","control":"z","phase":"change","value":-0.01}"#,
    #"{"type":"slider","control":"z","phase":"middle","value":0.5}"#,
    #"{"type":"slider","control":"","phase":"end","value":0.5}"#,
    #"{"type":"control.state","control":"z","value":1.5}"#,
    #"{"type":"control.state","control":"z","value":0.5,"on":true}"#,
    #"{"type":"tap","control":"z","on":1}"#, #"{"type":"tap","control":"z","on":"yes"}"#,
    #"{"type":"meter","input":"m","levels":[1.5]}"#,
    #"{"type":"meter","input":"m","levels":["1"]}"#,
    #"{"type":"chat.message","id":"","user":{"id":"u","name":"n"},"text":""}"#,
    #"{"type":"chat.message","id":"1","user":"u","text":""}"#,
    #"{"type":"chat.notice","kind":"party","user":{"id":"u","name":"n"},"count":1}"#,
    #"{"type":"host.admit","user":"u1","all":true}"#, #"{"type":"host.admit","user":""}"#,
    #"{"type":"host.highlight","names":["a",1]}"#, #"{"type":"host.highlight","names":[""]}"#,
    #"{"type":"host.highlight","names":"a"}"#, #"{"type":"host.set","control":"z","value":2}"#,
    #"{"type":"host.scroll","position":"up"}"#, #"{"type":"host.filter","words":""}"#,
    #"{"type":"host.notice","notice":1,"handling":"burn"}"#,
    #"{"type":"poll.begin","id":"","title":"t","options":["a"]}"#,
    #"{"type":"poll.begin","id":"p","title":"t","options":[]}"#,
    #"{"type":"poll.begin","id":"p","title":"t","options":["a",""]}"#,
    #"{"type":"poll.begin","id":"p","title":"t","options":["a",1]}"#,
    #"{"type":"poll.begin","id":"p","title":"t","options":"a"}"#,
    #"{"type":"poll.begin","id":"p","title":1,"options":["a"]}"#,
    #"{"type":"poll.votes","id":"p","totals":[1,-1]}"#,
    #"{"type":"poll.votes","id":"p","totals":[1000000001]}"#,
    #"{"type":"poll.votes","id":"p","totals":[99999999999999999999]}"#,
    #"{"type":"poll.votes","id":"p","totals":[1.5]}"#,
    #"{"type":"poll.votes","id":"p","totals":["1"]}"#,
    #"{"type":"poll.votes","id":"p","totals":[null]}"#,
    #"{"type":"poll.votes","id":"p","totals":[[1]]}"#,
    #"{"type":"poll.votes","id":"p","totals":{"a":1}}"#,
    #"{"type":"waiting.capacity","count":-1}"#, #"{"type":"waiting.pace","perSecond":0}"#,
    #"{"type":"source.state","source":"","state":"live"}"#,
    #"{"type":"source.state","source":"s","state":"good"}"#,
    #"{"type":"gap","source":"s","from":2,"to":1,"reason":"r"}"#,
    #"{"type":"gap","source":"s","from":-1,"to":1,"reason":"r"}"#,
    #"{"type":"follow","user":"u"}"#,
    #"{"type":"redemption","user":{"id":"u","name":"n"},"title":""}"#,
    #"{"type":"announcement","text":1}"#,
    #"{"type":"hypeTrain","phase":"change","level":1}"#,
    #"{"type":"hypeTrain","phase":"begin","level":-1}"#,
    #"{"type":"goal","title":"t","count":1,"target":1e99}"#,
    #"{"type":"prediction","id":"p","title":"t","state":"over","options":["a"]}"#,
    #"{"type":"prediction","id":"p","title":"t","state":"open","options":[]}"#,
    #"{"type":"host.activity","activity":1,"handling":"burn"}"#,
    #"{"type":"host.person","user":""}"#, #"{"type":"host.person","user":"u","platform":7}"#,
    #"{"type":"host.note","user":"","text":"a"}"#,
    #"{"type":"host.note","user":"u","text":"a\nb"}"#,
    #"{"type":"waiting.pace","perSecond":1001}"#, #"{"type":"waiting.schedule","startsAt":"soon"}"#,
    #"{"type":"stream","state":"LIVE"}"#, #"{"type":7}"#, #"{"type":["viewers"],"count":1}"#,
  ])
  func `a line with a value of a wrong type or out of range is rejected`(line: String) {
    #expect(decode(line) == .rejected(.invalidValue, room: "main"))
  }

  @Test func `the lengths of chat filters and of highlighted names are limited`() {
    func line(_ count: Int, _ names: Int) -> String {
      let name = "\"" + String(repeating: "x", count: count) + "\""
      return #"{"type":"host.highlight","names":["#
        + Array(repeating: name, count: names).joined(separator: ",") + "]}"
    }
    #expect(decode(line(256, 32)).reason == nil)
    #expect(decode(line(257, 1)).reason == .invalidValue)
    #expect(decode(line(1, 33)).reason == .invalidValue)
    let words = String(repeating: "\\u00e9", count: 128)
    #expect(decode(#"{"type":"host.filter","words":""# + words + #""}"#).reason == nil)
    #expect(decode(#"{"type":"host.filter","words":""# + words + #"x"}"#).reason == .invalidValue)
  }

  @Test func `the length of a note about a person is limited`() {
    func line(_ count: Int) -> String {
      let text = String(repeating: "\\u00e9", count: count / 2) + (count % 2 == 0 ? "" : "x")
      return #"{"type":"host.note","user":"u","text":"\#(text)"}"#
    }
    #expect(decode(line(500)).reason == nil)
    #expect(decode(line(501)).reason == .invalidValue)
  }

  @Test func `the number of options of a poll is limited`() {
    func begin(title: Int, options: Int) -> String {
      let list = Array(repeating: #""a""#, count: options).joined(separator: ",")
      // Each character has two bytes, and six in its escaped form.
      let title = String(repeating: "\\u00e9", count: title / 2)
      return #"{"type":"poll.begin","id":"p","title":"\#(title)","options":[\#(list)]}"#
    }
    #expect(decode(begin(title: 1_024, options: 32)).reason == nil)
    #expect(decode(begin(title: 1_026, options: 32)).reason == .invalidValue)
    #expect(decode(begin(title: 1_024, options: 33)).reason == .invalidValue)
    func votes(_ count: Int) -> String {
      let totals = Array(repeating: "1000000000", count: count).joined(separator: ",")
      return #"{"type":"poll.votes","id":"p","totals":[\#(totals)]}"#
    }
    #expect(decode(votes(32)).reason == nil)
    #expect(decode(votes(33)).reason == .invalidValue)
    #expect(decode(votes(4_000)).reason == .invalidValue)
  }

  @Test(arguments: [
    #"{}"#, #"{"type":null}"#, #"{"room":"main"}"#, #"{"type":"stats"}"#, #"{"type":"chat.modes"}"#,
    #"{"type":"chat.message","id":"1","user":{"name":"n"},"text":""}"#,
  ])
  func `a line without a required member is rejected`(line: String) {
    #expect(decode(line) == .rejected(.missingMember, room: "main"))
  }

  @Test(arguments: [
    "{", "{}}", "{} {}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,}", "{\"a\" 1}", "{a:1}",
    "{\"a\":1 \"b\":2}", "{\"a\":01}", "{\"a\":+1}", "{\"a\":1.}", "{\"a\":.5}", "{\"a\":1e}",
    "{\"a\":-}", "{\"a\":1x}", "{\"a\":1\u{1}}", "{\"a\":tru}", "{\"a\":truee}", "{\"a\":nul}",
    "{\"a\":\"x}", "{\"a\":\"\u{1}\"}", "{\"a\":\"x\"y}", "{\"a\":12\"x\"}", "{\"a\":[1,]}",
    "{\"a\":[1 2]}", "{\"a\":[}", "{\"a\":[1}}", "{\"a\":{]}", "{\"a\":{\"b\":1]}", "{\"a\":[,1]}",
    "{\"a\":{\"b\"}}", "{\"a\":{1:2}}", "[]", "[{}]", "{\"a\":\"\\x\"}", "{\"a\":\"\\u12g4\"}",
    "{\"a\":\"\\u12\"}", "{\"\\q\":1}", "{\"a\":[\"\\\"]}", "{1:2}", "{\"a\":1}x", "{\"a\"::1}",
  ])
  func `a line that violates the JSON grammar is malformed, and its room stays unknown`(
    line: String
  ) {
    #expect(decode(line) == .rejected(.malformedJSON))
  }

  @Test func `the depth of nested JSON is limited`() {
    func line(_ depth: Int) -> String {
      "{\"type\":\"chat.clear\",\"x\":" + String(repeating: "[", count: depth)
        + String(repeating: "]", count: depth) + "}"
    }
    #expect(decode(line(64)) == .event(.chat(.clear)))
    #expect(decode(line(65)) == .rejected(.malformedJSON))
    #expect(decode(line(30_000)) == .rejected(.malformedJSON))
  }

  @Test(arguments: [
    #"{"type":"viewers","count":1,"room":"Bad"}"#, #"{"type":"viewers","count":1,"room":""}"#,
    #"{"type":"viewers","count":1,"room":".x"}"#, #"{"type":"viewers","count":1,"room":5}"#,
    #"{"type":"nonsense","room":"a b"}"#, #"{"type":"viewers","count":1,"room":"\u006dain"}"#,
  ])
  func `a line with an invalid room name is rejected`(line: String) {
    #expect(decode(line) == .rejected(.invalidRoom))
  }

  @Test func `a line of an unknown type is counted in its room`() {
    #expect(decode(#"{"type":"nonsense","room":"r"}"#) == .rejected(.unknownType, room: "r"))
    #expect(decode(#"{"type":""}"#) == .rejected(.unknownType, room: "main"))
    #expect(decode(#"{"type":"chat.messagf"}"#) == .rejected(.unknownType, room: "main"))
    #expect(decode(#"{"type":"chat.message "}"#) == .rejected(.unknownType, room: "main"))
  }

  @Test func `if a member occurs several times, the last value is used`() {
    #expect(
      decode(#"{"type":"title","type":"viewers","count":1,"count":2}"#)
        == .event(.header(.viewers(count: 2))))
    #expect(
      decode(#"{"type":"viewers","count":1,"count":null}"#)
        == .rejected(.missingMember, room: "main"))
    #expect(
      decode(#"{"type":"waiting.join","user":{"id":"u","name":"n"},"user":{"name":"v"}}"#)
        == .rejected(.missingMember, room: "main"))
  }

  @Test func `member names with escapes equal the same names without escapes`() {
    #expect(
      decode(#"{"t\u0079pe":"view\u0065rs","count":3}"#) == .event(.header(.viewers(count: 3))))
  }

  @Test func `badges in a native line may be an array of strings`() {
    let line =
      #"{"type":"chat.message","id":"1","user":{"badges":[ "a/1", "b\/2" ],"id":"u","name":"n"},"text":"t"}"#
    #expect(
      decode(line)
        == .event(
          .chat(
            .message(
              ChatMessage(id: "1", userID: "u", userName: "n", badges: "a/1,b/2", text: "t")))))
  }

  @Test func `invalid UTF-8 in a line is distinguished from other errors`() {
    let line = Array(#"{"type":"title","title":"x?"}"#.utf8).map { $0 == 0x3F ? 0xFF : $0 }
    #expect(decode(line) == .rejected(.invalidUTF8))
    #expect(decode([0x7B, 0x22, 0xC0, 0x80]) == .rejected(.invalidUTF8))
  }

  @Test func `control lines are not decoded as events`() {
    #expect(decode(#"{"type":"sync","token":"a\"b"}"#) == Outcome(control: #"sync a"b"#))
    #expect(decode(#"{"token":"","type":"sync"}"#) == Outcome(control: "sync "))
    #expect(
      decode(#"{"type":"options","room":"r","clock":"event"}"#)
        == Outcome(control: "options r event"))
    #expect(decode(#"{"type":"options"}"#) == Outcome(control: "options - -"))
  }

  @Test(arguments: [
    (#"{"type":"sync"}"#, RejectionReason.missingMember),
    (#"{"type":"sync","token":1}"#, .invalidValue),
    (#"{"type":"options","clock":"sun"}"#, .invalidValue),
    (#"{"type":"options","room":"No"}"#, .invalidValue),
    (#"{"type":"options","format":"smoke"}"#, .invalidValue),
    (#"{"type":"options","room":1}"#, .invalidValue),
  ])
  func `an invalid control line is rejected`(line: String, reason: RejectionReason) {
    #expect(decode(line) == .rejected(reason))
  }
}
