import JSON
import LiveEvents
import PlatformFormats
import TestSupport
import Testing
import WireFormats

/// Messages of Social Stream Ninja, written after its documents.
struct SocialStreamMessageTests {
  private static func translated(_ text: String) throws -> (lines: String, unknown: [String: Int]) {
    var lines = NativeLines()
    SocialStreamMessage.translate(
      try JSONValue(parsing: text), room: "r", at: 1000, identifier: "i", into: &lines)
    return (String(decoding: lines.bytes, as: UTF8.self), lines.unknown)
  }

  @Test(arguments: [
    (
      #"{"id":7,"type":"youtube","userid":"UC1","chatname":"Ada","chatmessage":"hi <b>you</b> &amp; <img alt=\"🎉\">"}"#,
      #"{"type":"chat.message","room":"r","ts":1000,"id":"i","user":{"id":"youtube/UC1","name":"Ada"},"text":"hi you & 🎉","platform":"youtube"}"#
    ),
    (
      #"{"type":"kick","chatname":"Bo","chatmessage":"1 <b> 2","textonly":true,"moderator":true,"membership":"Member"}"#,
      #"{"type":"chat.message","room":"r","ts":1000,"id":"i","user":{"id":"kick/Bo","name":"Bo","badges":"moderator/1,subscriber/1"},"text":"1 <b> 2","platform":"kick"}"#
    ),
    (
      #"{"type":"youtube","chatname":"Ada","chatmessage":"thanks","hasDonation":"$5.00"}"#,
      #"{"type":"announcement","room":"r","ts":1000,"id":"i","user":{"id":"youtube/Ada","name":"Ada"},"text":"$5.00: thanks","platform":"youtube"}"#
    ),
    (
      #"{"type":"twitch","chatname":"Ada","userid":"7","event":"new_follower","chatmessage":"followed"}"#,
      #"{"type":"follow","room":"r","ts":1000,"id":"i","user":{"id":"twitch/7","name":"Ada"},"platform":"twitch"}"#
    ),
    (
      #"{"type":"twitch","chatname":"Ada","event":"raid","meta":{"viewers":"12"}}"#,
      #"{"type":"chat.notice","room":"r","ts":1000,"id":"i","user":{"id":"twitch/Ada","name":"Ada"},"kind":"raid","count":12,"platform":"twitch"}"#
    ),
    (
      #"{"type":"twitch","chatname":"Ada","event":"cheer","hasDonation":"1,000 bits"}"#,
      #"{"type":"chat.notice","room":"r","ts":1000,"id":"i","user":{"id":"twitch/Ada","name":"Ada"},"kind":"cheer","count":1000,"platform":"twitch"}"#
    ),
    (
      #"{"type":"kick","chatname":"Ada","event":"subscription_gift","meta":{"count":5}}"#,
      #"{"type":"chat.notice","room":"r","ts":1000,"id":"i","user":{"id":"kick/Ada","name":"Ada"},"kind":"giftBomb","count":5,"platform":"kick"}"#
    ),
    (
      #"{"type":"twitch","event":"viewer_update","meta":42}"#,
      #"{"type":"viewers","room":"r","ts":1000,"count":42,"platform":"twitch"}"#
    ),
    (#"{"chatname":"Ada","chatmessage":"psst","private":true}"#, ""),
    (#"{"action":"clearDock"}"#, ""),
    (#"{"chatname":"Ada","chatmessage":""}"#, ""),
  ])
  func `a message becomes an event`(message: String, line: String) throws {
    let (lines, unknown) = try Self.translated(message)
    #expect(lines == (line.isEmpty ? "" : line + "\n"))
    #expect(unknown.isEmpty)
  }

  @Test func `kinds that are not known are counted by name`() throws {
    let (lines, unknown) = try Self.translated(#"{"chatname":"Ada","event":"something_new"}"#)
    #expect(lines.isEmpty)
    #expect(unknown == ["something_new": 1])
  }

  @Test func `100,000 seeded messages give lines that a daemon takes`() {
    var generator = SplitMix64(seed: 19)
    let names = [
      "type", "chatname", "chatmessage", "userid", "event", "hasDonation", "membership", "subtitle",
      "meta", "moderator", "admin", "textonly", "private", "id",
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
    var taken = 0
    for _ in 0..<100_000 {
      var members: [JSONName: JSONValue] = [:]
      for _ in 0..<6 { members[JSONName(names.randomElement(using: &generator) ?? "")] = value() }
      var lines = NativeLines()
      SocialStreamMessage.translate(
        .object(members), room: nil, at: 0, identifier: "i", into: &lines)
      guard lines.lines > 0 else { continue }
      let slab = ByteSlab(lines.bytes.dropLast())
      let line = ByteSlab.Slice(offset: 0, count: lines.bytes.count - 1)
      if case .event = decoder.decode(slab, line: line, arrival: 0) {
        taken += 1
      } else {
        Issue.record("\(String(decoding: lines.bytes, as: UTF8.self))")
      }
    }
    #expect(taken > 1_000)
  }
}
