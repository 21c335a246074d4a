import Foundation
import LiveEvents
import Testing

@Suite struct PlatformActTests {
  private static let ann = Person(id: "u1", name: "Ann")
  private static let longest = Text(String(repeating: "\u{1F44D}", count: 500))

  /// A complete act of each kind, with all members that the kind allows.
  static let acts: [PlatformAct] = [
    act(.say, text: "hello"), act(.reply, text: longest, message: "m1"),
    act(.delete, message: "m1"), act(.timeOut, person: ann, seconds: 1_209_600, reason: "spam"),
    act(.ban, person: ann, reason: longest), act(.unban, person: ann),
    act(.announce, text: "soon"), act(.mark, text: "goal"), act(.mark),
    act(.setTitle, text: "Evening"), act(.setCategory, text: "Chess"), act(.shoutOut, person: ann),
    act(.setChatModes, modes: ChatModes(slowSeconds: 30, followersOnlyMinutes: -1)),
    act(.setShield, on: true), act(.reviewHeld, message: "m1", on: false),
  ]

  private static func act(
    _ kind: ActKind, text: Text? = nil, message: Text? = nil, person: Person? = nil,
    seconds: Int? = nil, reason: Text? = nil, modes: ChatModes? = nil, on: Bool? = nil
  ) -> PlatformAct {
    do throws(PlatformAct.Fault) {
      return try PlatformAct(
        kind, text: text, message: message, person: person, seconds: seconds, reason: reason,
        modes: modes, on: on)
    } catch {
      preconditionFailure("\(kind) has no valid \(error.member)")
    }
  }

  @Test func `there is an example of each kind of act`() {
    #expect(Set(Self.acts.map(\.kind)) == Set(ActKind.allCases))
  }

  @Test(arguments: acts)
  func `a saved act is restored, and lacks no member that its kind needs`(
    act: PlatformAct
  ) throws {
    let saved = try JSONEncoder().encode(act)
    #expect(try JSONDecoder().decode(PlatformAct.self, from: saved) == act)
    let members = try #require(try JSONSerialization.jsonObject(with: saved) as? [String: Any])
    for name in members.keys where !["reason", "kind"].contains(name) {
      if act.kind == .mark { continue }
      var fewer = members
      fewer[name] = nil
      let data = try JSONSerialization.data(withJSONObject: fewer)
      #expect(throws: DecodingError.self, "\(act.kind) without \(name)") {
        try JSONDecoder().decode(PlatformAct.self, from: data)
      }
    }
  }

  @Test func `a message cannot be deleted without its identifier`() {
    #expect(throws: PlatformAct.Fault(.message)) { try PlatformAct(.delete) }
    #expect(throws: PlatformAct.Fault(.message)) { try PlatformAct(.delete, message: "") }
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(PlatformAct.self, from: Data(#"{"kind":"delete"}"#.utf8))
    }
  }

  @Test func `an act with a member that its kind does not need is refused`() {
    #expect(throws: PlatformAct.Fault(.text)) {
      try PlatformAct(.delete, text: "a", message: "m1")
    }
    #expect(throws: PlatformAct.Fault(.reason)) {
      try PlatformAct(.unban, person: Self.ann, reason: "sorry")
    }
    #expect(throws: PlatformAct.Fault(.on)) { try PlatformAct(.say, text: "a", on: true) }
  }

  @Test func `texts, names and durations beyond their limits are refused`() {
    let name = Text(String(repeating: "n", count: 257))
    for text in ["", "two\nlines", "\u{1B}[2J", Text(String(repeating: "a", count: 501))] as [Text]
    {
      #expect(throws: PlatformAct.Fault(.text)) { try PlatformAct(.say, text: text) }
      #expect(throws: PlatformAct.Fault(.reason)) {
        try PlatformAct(.ban, person: Self.ann, reason: text)
      }
    }
    #expect(throws: PlatformAct.Fault(.message)) { try PlatformAct(.delete, message: name) }
    for person in [
      Person(id: "", name: "Ann"), Person(id: name, name: ""), Person(id: "u", name: name),
    ] {
      #expect(throws: PlatformAct.Fault(.user)) { try PlatformAct(.ban, person: person) }
    }
    for seconds in [0, -1, 1_209_601] {
      #expect(throws: PlatformAct.Fault(.seconds)) {
        try PlatformAct(.timeOut, person: Self.ann, seconds: seconds)
      }
    }
    for modes in [ChatModes(), ChatModes(slowSeconds: -1), ChatModes(followersOnlyMinutes: -2)] {
      #expect(throws: PlatformAct.Fault(.modes)) { try PlatformAct(.setChatModes, modes: modes) }
    }
  }

  @Test func `the acts that a controller offers have an order and no repetitions`() {
    let offer = OfferedActs(kinds: [.ban, .say, .ban])
    #expect(offer.kinds == [.say, .ban])
    #expect(offer == OfferedActs(kinds: [.say, .ban]))
  }
}
