import ChatImport
import JSON
import LiveEvents
import TestSupport
import Testing
import WireFormats

/// Tests messages of Social Stream Ninja that follow its documentation.
struct SocialStreamMessageTests {
  private static func translated(_ text: String) throws -> (lines: String, unknown: [String: Int]) {
    var lines = NativeLines()
    var chat = SocialStreamChat(room: "r", run: "run")
    chat.translate(try JSONValue(parsing: text), at: 1000, into: &lines)
    return (String(decoding: lines.bytes, as: UTF8.self), lines.unknown)
  }

  @Test(arguments: [
    (##"{"nameColor":"red"}"##, "nameColor"), (##"{"nameColor":7}"##, "nameColor"),
    (##"{"nameColor":"#12345"}"##, "nameColor"), (##"{"meta":"text"}"##, "meta"),
    (##"{"meta":{"permanent":"yes"}}"##, "permanent"),
    (##"{"meta":{"expiresAt":"soon"}}"##, "expiresAt"), (##"{"event":[1]}"##, "event"),
  ])
  func `an unusable value in a message is counted under its member's name`(
    member: String, name: String
  ) throws {
    var message = try #require(JSONValue(lenient: Array(member.utf8))?.objectValue)
    message.merge(["type": "x", "id": 1, "chatname": "A", "chatmessage": "a"]) { first, _ in first }
    var lines = NativeLines()
    var chat = SocialStreamChat(room: nil, run: "run")
    chat.translate(.object(message), at: 1_000, into: &lines)
    #expect(lines.lines == 1)
    #expect(lines.unknown == ["value of \(name)": 1])
    #expect(lines.remark == "unusable values ignored: 1 \(name)")
    #expect(lines.notShown == 0)
  }

  /// Returns the lines of several messages, without the members that all lines share.
  private static func all(_ messages: [String]) -> [String] {
    var lines = NativeLines()
    var chat = SocialStreamChat(room: nil, run: "run")
    for message in messages {
      guard let value = JSONValue(lenient: Array(message.utf8)) else {
        Issue.record("no JSON: \(message)")
        continue
      }
      chat.translate(value, at: 1000, into: &lines)
    }
    return String(decoding: lines.bytes, as: UTF8.self).split(separator: "\n").map {
      String($0).replacing(#","ts":1000"#, with: "")
    }
  }

  @Test(arguments: [
    (
      #"{"id":7,"type":"youtube","userid":"UC1","chatname":"Ada","chatmessage":"hi <b>you</b> &amp; <img alt=\"🎉\">"}"#,
      #"{"type":"chat.message","room":"r","ts":1000,"id":"youtube/7","user":{"id":"youtube/UC1","name":"Ada"},"text":"hi you & 🎉","platform":"youtube"}"#
    ),
    (
      #"{"type":"kick","chatname":"Bo","chatmessage":"1 <b> 2","textonly":true,"moderator":true,"membership":"Member"}"#,
      #"{"type":"chat.message","room":"r","ts":1000,"id":"run/1","user":{"id":"kick/Bo","name":"Bo","badges":"moderator/1,subscriber/1"},"text":"1 <b> 2","platform":"kick"}"#
    ),
    (
      #"{"type":"youtube","chatname":"Ada","chatmessage":"thanks","hasDonation":"$5.00"}"#,
      #"{"type":"announcement","room":"r","ts":1000,"id":"run/1","user":{"id":"youtube/Ada","name":"Ada"},"text":"$5.00: thanks","platform":"youtube"}"#
    ),
    (
      #"{"type":"twitch","chatname":"Ada","userid":"7","event":"new_follower","chatmessage":"followed"}"#,
      #"{"type":"follow","room":"r","ts":1000,"id":"run/1","user":{"id":"twitch/7","name":"Ada"},"platform":"twitch"}"#
    ),
    (
      #"{"type":"twitch","chatname":"Ada","event":"raid","meta":{"viewers":"12"}}"#,
      #"{"type":"chat.notice","room":"r","ts":1000,"id":"run/1","user":{"id":"twitch/Ada","name":"Ada"},"kind":"raid","count":12,"platform":"twitch"}"#
    ),
    (
      #"{"type":"twitch","chatname":"Ada","event":"cheer","hasDonation":"1,000 bits"}"#,
      #"{"type":"chat.notice","room":"r","ts":1000,"id":"run/1","user":{"id":"twitch/Ada","name":"Ada"},"kind":"cheer","count":1000,"platform":"twitch"}"#
    ),
    (
      #"{"type":"kick","chatname":"Ada","event":"subscription_gift","meta":{"count":5}}"#,
      #"{"type":"chat.notice","room":"r","ts":1000,"id":"run/1","user":{"id":"kick/Ada","name":"Ada"},"kind":"giftBomb","count":5,"platform":"kick"}"#
    ),
    (
      #"{"type":"twitch","event":"viewer_update","meta":42}"#,
      #"{"type":"viewers","room":"r","ts":1000,"count":42,"platform":"twitch"}"#
    ),
    (#"{"action":"clearDock"}"#, ""),
    (#"{"chatname":"Ada","chatmessage":""}"#, ""),
  ])
  func `each Social Stream message becomes the expected event`(message: String, line: String) throws
  {
    let (lines, unknown) = try Self.translated(message)
    #expect(lines == (line.isEmpty ? "" : line + "\n"))
    #expect(unknown.isEmpty)
  }

  @Test func `Social Stream messages of unknown kinds are counted by name`() throws {
    let (lines, unknown) = try Self.translated(#"{"chatname":"Ada","event":"something_new"}"#)
    #expect(lines.isEmpty)
    #expect(unknown == ["something_new": 1])
    let secret = try Self.translated(#"{"chatname":"Ada","chatmessage":"psst","private":true}"#)
    #expect(secret.lines.isEmpty && secret.unknown == ["private message": 1])
  }

  @Test(arguments: [
    (
      #"{"type":"youtube","chatname":"Bo","hasDonation":"€7.00","event":"thankyou","chatmessage":"t"}"#,
      #""type":"announcement""#, #""text":"€7.00: t""#
    ),
    (
      #"{"type":"x","chatname":"Bo","hasDonation":"5 coins","event":"whatever_new","chatmessage":"t"}"#,
      #""type":"announcement""#, #""text":"5 coins: t""#
    ),
    (
      #"{"type":"x","chatname":"Bo","hasDonation":5,"event":"resub"}"#,
      #""type":"announcement""#, #""text":"5""#
    ),
    (
      #"{"type":"x","chatname":"Bo","hasDonation":true,"chatmessage":"t"}"#,
      #""type":"announcement""#, #""text":"a donation: t""#
    ),
    (
      #"{"type":"x","chatname":"Bo","donoValue":2.5}"#, #""type":"announcement""#, #""text":"$2.5""#
    ),
    (
      #"{"type":"kick","chatname":"Bo","event":"donation","meta":{"amount":5,"currency":"USD"}}"#,
      #""type":"announcement""#, #""text":"5 USD""#
    ),
    (
      #"{"type":"twitch","chatname":"Bo","hasDonation":"500 bits","chatmessage":"hype"}"#,
      #""kind":"cheer","count":500"#, #""text":"hype""#
    ),
    (
      #"{"type":"youtube","chatname":"Fi","event":"membermilestone","subtitle":"12 months","chatmessage":"a year"}"#,
      #""kind":"resubscribe","count":12"#, #""text":"a year""#
    ),
    (
      #"{"type":"youtube","chatname":"Gus","event":"resub","subtitle":"upgraded to Tier 2"}"#,
      #""kind":"resubscribe","count":1"#, "}"
    ),
    (
      #"{"type":"whatnot","chatname":"Lu","event":"raid","chatmessage":"raid","meta":{"numRaiders":40}}"#,
      #""kind":"raid","count":40"#, "}"
    ),
    (
      #"{"type":"rumble","chatname":"Lu99","event":"raid","chatmessage":"Lu99 raids with 25 viewers"}"#,
      #""kind":"raid","count":25"#, #""text":"Lu99 raids with 25 viewers""#
    ),
    (
      #"{"type":"twitch","id":16,"chatname":"x<y>z","chatmessage":"t"}"#, #""name":"x<y>z""#,
      #""text":"t""#
    ),
    (
      #"{"type":"discord","chatname":"Nel","chatmessage":"","contentimg":"https://x.example/i.png"}"#,
      #""type":"chat.message""#, #""text":"[image]""#
    ),
    (
      #"{"type":"x","chatname":"Nel","chatmessage":"<img src=1>"}"#, "chat.message",
      #""text":"[image]""#
    ),
    (
      #"{"type":"x","chatname":"Nel","chatmessage":"<hello>"}"#, "chat.message",
      #""text":"<hello>""#
    ),
    (
      #"{"type":"x","chatname":"Nel","chatmessage":"hi","event":"watch_streak"}"#,
      #""type":"chat.message""#, #""kind":"watch_streak""#
    ),
    (
      #"{"type":"twitch","chatname":"Nel","chatmessage":"waves","event":"action"}"#, "chat.message",
      #""action":true"#
    ),
    (#"{"type":"x","chatmessage":"no name"}"#, #""name":"x""#, #""text":"no name""#),
    (
      #"{"type":"x","chatname":"Nel","chatmessage":"hi","event":true}"#, "chat.message",
      #""text":"hi""#
    ),
    (
      #"{"type":"twitch","chatname":"Nel","chatmessage":"please","event":"reward","meta":{"rewardTitle":"Song","cost":100}}"#,
      #""type":"redemption""#, #""title":"Song","cost":100,"text":"please""#
    ),
    (
      #"{"type":"twitch","event":"hype_train","meta":{"phase":"progress","level":2,"total":9}}"#,
      #""type":"hypeTrain""#, #""level":2,"total":9"#
    ),
    (
      #"{"type":"tiktok","chatname":"Nel","event":"liked","meta":{"count":5}}"#,
      #""type":"reaction""#, #""count":5"#
    ),
  ])
  func `the content of a Social Stream message determines its event, and its text is kept`(
    message: String, part: String, other: String
  ) throws {
    let (lines, _) = try Self.translated(message)
    #expect(lines.contains(part) && lines.contains(other), "\(lines)")
    #expect(lines.split(separator: "\n").count == 1)
  }

  private static let said = [
    #"{"type":"youtube","id":3,"chatname":"Ada","userid":"UCa","chatmessage":"one","meta":{"messageId":"n3"}}"#,
    #"{"type":"youtube","id":4,"chatname":"Bo","chatmessage":"two"}"#,
    #"{"type":"twitch","id":4,"chatname":"Ada","chatmessage":"three"}"#,
  ]

  @Test(arguments: [
    (#"{"delete":{"type":"youtube","id":4}}"#, ["youtube/4"]),
    (#"{"delete":{"type":"youtube","id":"4"}}"#, ["youtube/4"]),
    (#"{"delete":{"type":"youtube","id":3}}"#, ["youtube/n3"]),
    (#"{"delete":{"type":"youtube","meta":{"messageId":"n3"}}}"#, ["youtube/n3"]),
    (#"{"delete":{"type":"youtube","id":"n3"}}"#, ["youtube/n3"]),
    (#"{"delete":{"type":"youtube","userid":"UCa"}}"#, ["youtube/n3"]),
    (#"{"delete":{"type":"youtube","chatname":"ADA"}}"#, ["youtube/n3"]),
    (#"{"delete":{"chatname":"Ada"}}"#, ["youtube/n3", "twitch/4"]),
    (#"{"delete":{"id":4}}"#, ["youtube/4", "twitch/4"]),
    (#"{"delete":{"type":"youtube"}}"#, ["youtube/n3", "youtube/4"]),
    (#"{"delete":[{"type":"twitch"},{"type":"youtube","id":4}]}"#, ["twitch/4", "youtube/4"]),
    (#"{"delete":{"type":"kick","id":9}}"#, ["kick/9"]),
    (#"{"delete":{"type":"kick","meta":{"messageId":"n9"}}}"#, ["kick/n9"]),
  ])
  func `every form of a Social Stream deletion deletes the intended messages`(
    message: String, identifiers: [String]
  ) {
    let lines = Self.all(Self.said + [message]).dropFirst(3)
    #expect(Array(lines) == identifiers.map { #"{"type":"chat.delete","id":"\#($0)"}"# })
  }

  @Test(arguments: [
    (
      #"{"type":"twitch","event":"user_banned","meta":{"username":"ada","userId":"7","permanent":true}}"#,
      [#"{"type":"chat.timeout","user":{"id":"twitch/Ada","name":"ada"},"platform":"twitch"}"#]
    ),
    (
      #"{"type":"youtube","event":"user_banned","meta":{"channelId":"UCa","displayName":"A","durationSeconds":300}}"#,
      [
        #"{"type":"chat.timeout","user":{"id":"youtube/UCa","name":"A"},"seconds":300,"platform":"youtube"}"#
      ]
    ),
    (
      #"{"type":"youtube","event":"user_banned","meta":{"username":"Bo","durationSeconds":"odd"}}"#,
      [#"{"type":"chat.timeout","user":{"id":"youtube/Bo","name":"Bo"},"platform":"youtube"}"#]
    ),
    (
      #"{"type":"kick","event":"user_banned","meta":{"username":"new","userId":5}}"#,
      [
        #"{"type":"chat.timeout","user":{"id":"kick/5","name":"new"},"platform":"kick"}"#,
        #"{"type":"chat.timeout","user":{"id":"kick/new","name":"new"},"platform":"kick"}"#,
      ]
    ),
  ])
  func `a ban applies to the identifier and to all names under which the person wrote`(
    message: String, lines: [String]
  ) {
    #expect(Array(Self.all(Self.said + [message]).dropFirst(3)) == lines)
  }

  @Test func `the viewers of each platform are counted separately`() {
    let lines = Self.all([
      #"{"type":"youtube","event":"viewer_update","meta":100}"#,
      #"{"type":"twitch","event":"viewer_update","meta":"20"}"#,
      #"{"type":"twitch","event":"viewer_update","meta":{"viewers":30}}"#,
      #"{"event":"viewer_updates","meta":{"youtube":1,"twitch":2,"kick":{"count":3},"x":"odd"}}"#,
      #"{"type":"twitch","event":"viewer_update","meta":-1}"#,
    ])
    #expect(
      lines == [
        #"{"type":"viewers","count":100,"platform":"youtube"}"#,
        #"{"type":"viewers","count":20,"platform":"twitch"}"#,
        #"{"type":"viewers","count":30,"platform":"twitch"}"#,
        #"{"type":"viewers","count":3,"platform":"kick"}"#,
        #"{"type":"viewers","count":2,"platform":"twitch"}"#,
        #"{"type":"viewers","count":1,"platform":"youtube"}"#,
      ])
  }

  @Test func `a second message with a reused number gets another identifier`() {
    let lines = Self.all(
      [
        #"{"type":"x","id":1,"chatname":"A","chatmessage":"a"}"#,
        #"{"type":"x","id":1,"chatname":"A","chatmessage":"a"}"#,
        #"{"type":"x","id":1,"chatname":"A","chatmessage":"b"}"#,
      ])
    #expect(lines.count == 2)
    #expect(lines[0].contains(#""id":"x/1""#) && lines[1].contains(#""id":"x/1/2""#))
  }

  private static let full = [
    "type": #""youtube""#, "chatname": #""Ada""#, "chatmessage": #""words""#, "userid": #""U1""#,
    "id": "5",
    "event": #""""#, "hasDonation": #""""#, "textonly": "false", "contentimg": #""""#,
    "membership": #""m""#,
    "subtitle": #""2 months""#, "meta": #"{"messageId":"n1"}"#, "moderator": "true",
    "admin": "false",
    "private": "false", "nameColor": ##""#112233""##, "chatbadges": "[]", "donoValue": #""""#,
    "action": #""""#,
    "username": #""ada""#, "platform": #""youtube""#, "firsttime": "false",
  ]

  @Test(arguments: full.keys.sorted(), ["", "resub", "raid", "subscription_gift", "new_thing"])
  func `an unusable value of another member loses neither a message nor its text`(
    member: String, event: String
  ) {
    for odd in OddValues.json where !(member == "private" && odd == "true") {
      var members = Self.full
      members["event"] = "\"\(event)\""
      members[member] = odd
      let text =
        "{"
        + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(
          separator: ",") + "}"
      let lines = Self.all([text])
      // Without text, a message of an ordinary kind has no content.
      if member == "chatmessage" { continue }
      #expect(lines.count == 1 && lines[0].contains("words"), "\(member) \(odd): \(lines)")
      var decoder = LineDecoder()
      for line in lines {
        let slab = ByteSlab(Array(line.utf8))
        let slice = ByteSlab.Slice(offset: 0, count: line.utf8.count)
        guard case .event = decoder.decode(slab, line: slice, arrival: 0) else {
          Issue.record("\(member) \(odd): \(line)")
          continue
        }
      }
    }
  }

  @Test(arguments: ["meta", "type", "chatname", "chatmessage", "userid", "id", "username"])
  func `no unusable value prevents a ban or a deletion`(member: String) {
    for odd in OddValues.json {
      let type = member == "type" ? "" : #""type":"twitch","#
      let ban =
        #"{\#(type)"event":"user_banned","chatname":"Ada","\#(member)":\#(odd),"userid":"9"}"#
      var names = member == "chatname" || member == "userid" ? [] : [ban]
      if member != "type", member != "meta" {
        names.append(#"{"delete":{"type":"twitch","meta":{"messageId":"m"},"\#(member)":\#(odd)}}"#)
      }
      for message in names {
        let lines = Self.all(Self.said + [message]).dropFirst(3)
        #expect(!lines.isEmpty, "\(message)")
      }
    }
  }

  @Test func `100,000 seeded Social Stream messages give lines that the daemon accepts`() {
    var generator = SplitMix64(seed: 19)
    let names = [
      "type", "chatname", "chatmessage", "userid", "event", "hasDonation", "membership", "subtitle",
      "meta", "moderator", "admin", "textonly", "private", "id", "contentimg", "donoValue",
    ]
    let words = [
      "", "twitch", "raid", "cheer", "follow", "gifted", "<b>x", "\u{0}", "1,5", "é", "42",
    ]
    func value() -> JSONValue {
      switch Int.random(in: 0...6, using: &generator) {
      case 0: .null
      case 1: .bool(.random(using: &generator))
      case 2: .integer(.random(in: .min ... .max, using: &generator))
      case 3: .number(.random(in: -1e300...1e300, using: &generator))
      case 4: .object(["count": .integer(.random(in: -9...9, using: &generator))])
      default: .string(words.randomElement(using: &generator) ?? "")
      }
    }
    var decoder = LineDecoder()
    var chat = SocialStreamChat(room: nil, run: "run")
    var taken = 0
    for _ in 0..<100_000 {
      var members: [JSONName: JSONValue] = [:]
      for _ in 0..<6 { members[JSONName(names.randomElement(using: &generator) ?? "")] = value() }
      if generator.oneIn(20) { members["delete"] = .object(members) }
      var lines = NativeLines()
      chat.translate(.object(members), at: 0, into: &lines)
      for line in lines.bytes.split(separator: 0x0A) {
        let slab = ByteSlab(Array(line))
        let slice = ByteSlab.Slice(offset: 0, count: line.count)
        if case .event = decoder.decode(slab, line: slice, arrival: 0) {
          taken += 1
        } else {
          Issue.record("\(String(decoding: line, as: UTF8.self))")
        }
      }
    }
    #expect(taken > 1_000)
  }
}
