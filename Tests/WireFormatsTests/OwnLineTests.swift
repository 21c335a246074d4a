import LiveEvents
import Testing
import WireFormats

/// Tests events that only this program writes, into its log and recordings.
@Suite struct OwnLineTests {
  private static let payloads: [LiveEvent.Payload] = [
    .control(.controller(.began(controller: 3, controls: nil))),
    .control(.controller(.began(controller: 0, controls: []))),
    .control(.controller(.began(controller: 1, controls: ["zoom", "a \"b\""]))),
    .control(.controller(.ended(controller: 3))), .control(.controller(.ended(controller: nil))),
    .control(.controller(.restarted)), .control(.outcome(request: 12, .confirmed)),
    .control(.outcome(request: 12, .refused(reason: "no \"answer\""))),
    .control(.outcome(request: 1, .refused(reason: ""))),
    .control(.record(.start)), .control(.record(.stop)), .control(.record(.pause)),
    .control(.record(.resume)),
    .control(.outcome(request: 12, .sent)),
    .control(
      .controller(
        .began(
          controller: 2, controls: [],
          acts: OfferedActs(platform: "twitch", source: "main \"1\"", kinds: ActKind.allCases)))),
    .control(
      .controller(.began(controller: 2, controls: nil, acts: OfferedActs(kinds: [.say])))),
    .chat(.findings(ChatFindings(run: 1))),
    .chat(
      .findings(
        ChatFindings(
          run: 1_000_000_000, samples: ["a \"b\"", Text(String(repeating: "é", count: 256))],
          mergers: [.init(burst: 7, into: 1)],
          members: [
            .init(offset: -16_384, count: 8_192, burst: 1),
            .init(offset: 8_000, count: 1, burst: 9),
          ],
          unanalysed: 3))),
    .chat(
      .findings(
        ChatFindings(
          run: 2,
          highlights: [
            ChatHighlight(
              startedAt: 1_700_000_000_000, seconds: 12, messages: 140, busiest: 123, usual: 20,
              words: ["GOAL", "a\"b"]),
            ChatHighlight(startedAt: 5_000, seconds: 0, messages: 0, busiest: 0, usual: 0),
            ChatHighlight(
              startedAt: 0, seconds: 1, messages: 1, busiest: 1, usual: 1,
              words: ["1", "2", "3", "4", "5"]),
          ]))),
  ]

  private static let acts: [RequestedAct] = [
    requested(.say, text: "a \"b\" \u{1F44D}"), requested(.reply, text: "yes", message: "m\"1"),
    requested(.delete, message: "m1"),
    requested(.timeOut, person: Person(id: "u1", name: "Ann"), seconds: 600, reason: "spam"),
    requested(.ban, person: Person(id: "u1", name: "")),
    requested(.unban, person: Person(id: "u1", name: "Ann")),
    requested(.announce, text: "soon"), requested(.mark), requested(.setTitle, text: "Evening"),
    requested(.setCategory, text: "Chess"),
    requested(.shoutOut, person: Person(id: "u1", name: "Ann")),
    requested(
      .setChatModes,
      modes: ChatModes(
        slowSeconds: 3, emoteOnly: true, followersOnlyMinutes: -1, subscribersOnly: false,
        uniqueOnly: true)),
    requested(.setShield, on: false), requested(.reviewHeld, message: "m1", on: true),
  ]

  private static func requested(
    _ kind: ActKind, text: Text? = nil, message: Text? = nil, person: Person? = nil,
    seconds: Int? = nil, reason: Text? = nil, modes: ChatModes? = nil, on: Bool? = nil
  ) -> RequestedAct {
    guard
      let act = try? PlatformAct(
        kind, text: text, message: message, person: person, seconds: seconds, reason: reason,
        modes: modes, on: on)
    else { preconditionFailure("an example of \(kind) is not possible") }
    return RequestedAct(act)
  }

  @Test func `each kind of act is recorded with and without its target and the acting person`() {
    #expect(Set(Self.acts.map(\.act.kind)) == Set(ActKind.allCases))
    for act in Self.acts {
      var full = act
      (full.platform, full.source, full.by) = ("twitch", "second", "mod \"bob\"")
      for act in [act, full] { expectOwn(.control(.act(act))) }
    }
  }

  private func decode(_ line: [UInt8], _ decoder: inout LineDecoder) -> Outcome {
    let slab = ByteSlab(line)
    let decoded = decoder.decode(
      slab, line: ByteSlab.Slice(offset: 0, count: line.count), arrival: 7)
    return outcome(decoded) { decoder.name(of: $0).description }
  }

  private func decodeOwn(_ line: String) -> Outcome {
    var decoder = LineDecoder(ofOwnLinesUpTo: 2_000)
    return decode(Array(line.utf8), &decoder)
  }

  @Test(arguments: payloads)
  func `results of effects are accepted in the daemon's own lines and rejected from clients`(
    payload: LiveEvent.Payload
  ) {
    expectOwn(payload)
  }

  private func expectOwn(_ payload: LiveEvent.Payload) {
    var line: [UInt8] = []
    NativeEncoder.append(LiveEvent(timestamp: 5, payload: payload), to: &line)
    line.removeLast()
    var own = LineDecoder(ofOwnLinesUpTo: 2_000)
    #expect(decode(line, &own) == .event(payload, at: 5))
    var strangers = LineDecoder()
    #expect(decode(line, &strangers) == .rejected(.unknownType, room: "main"))
  }

  @Test func `an incomplete line of the daemon's own format is rejected`() {
    for (line, reason) in [
      (#"{"type":"control.surface"}"#, RejectionReason.missingMember),
      (#"{"type":"control.surface","phase":"begin"}"#, .missingMember),
      (#"{"type":"control.surface","phase":"change"}"#, .invalidValue),
      (#"{"type":"control.surface","phase":"begin","surface":1,"names":"a"}"#, .invalidValue),
      (#"{"type":"control.outcome","state":"confirmed"}"#, .missingMember),
      (#"{"type":"control.outcome","request":1,"state":"done"}"#, .invalidValue),
      (#"{"type":"control.outcome","request":1,"state":"refused"}"#, .missingMember),
      (#"{"type":"control.surface","phase":"begin","surface":1,"acts":["dance"]}"#, .invalidValue),
      (#"{"type":"control.surface","phase":"begin","surface":1,"acts":"say"}"#, .invalidValue),
      (
        #"{"type":"control.surface","phase":"begin","surface":1,"acts":["say"],"platform":""}"#,
        .invalidValue
      ),
      (#"{"type":"host.act"}"#, .missingMember),
      (#"{"type":"host.act","kind":"dance"}"#, .invalidValue),
      (#"{"type":"host.act","kind":"delete"}"#, .missingMember),
      (#"{"type":"host.act","kind":"delete","message":""}"#, .invalidValue),
      (#"{"type":"host.act","kind":"delete","message":"m","text":"a"}"#, .invalidValue),
      (#"{"type":"host.act","kind":"say","text":"a\nb"}"#, .invalidValue),
      (#"{"type":"host.act","kind":"ban","user":"u"}"#, .invalidValue),
      (#"{"type":"host.act","kind":"timeOut","user":{"id":"u"}}"#, .missingMember),
      (#"{"type":"host.act","kind":"timeOut","user":{"id":"u"},"seconds":0}"#, .invalidValue),
      (#"{"type":"host.act","kind":"setChatModes"}"#, .missingMember),
      (#"{"type":"host.act","kind":"setShield","on":1}"#, .invalidValue),
      (#"{"type":"host.act","kind":"mark","by":""}"#, .invalidValue),
      (#"{"type":"host.record"}"#, .missingMember),
      (#"{"type":"host.record","kind":"begin"}"#, .invalidValue),
      (#"{"type":"control.outcome","request":-1,"state":"confirmed"}"#, .invalidValue),
      (#"{"type":"chat.waves"}"#, .missingMember),
      (#"{"type":"chat.waves","run":-1}"#, .invalidValue),
      (#"{"type":"chat.waves","run":1,"count":-1}"#, .invalidValue),
      (#"{"type":"chat.waves","run":1,"samples":[""]}"#, .invalidValue),
      (
        #"{"type":"chat.waves","run":1,"samples":["\#(String(repeating: "a", count: 513))"]}"#,
        .invalidValue
      ),
      (
        #"{"type":"chat.waves","run":1,"samples":[\#(Array(repeating: #""a""#, count: 17).joined(separator: ","))]}"#,
        .invalidValue
      ),
      (#"{"type":"chat.waves","run":1,"mergers":[3]}"#, .invalidValue),
      (#"{"type":"chat.waves","run":1,"mergers":[1,3]}"#, .invalidValue),
      (#"{"type":"chat.waves","run":1,"members":[1,3]}"#, .invalidValue),
      (#"{"type":"chat.waves","run":1,"members":[-16385,1,1]}"#, .invalidValue),
      (#"{"type":"chat.waves","run":1,"members":[8193,1,1]}"#, .invalidValue),
      (#"{"type":"chat.waves","run":1,"members":[0,0,1]}"#, .invalidValue),
      (#"{"type":"chat.waves","run":1,"members":[0,8193,1]}"#, .invalidValue),
      (#"{"type":"chat.waves","run":1,"members":[0,1,0]}"#, .invalidValue),
      (#"{"type":"chat.waves","run":1,"members":[0,8192,1,0,8192,1,0,1,1]}"#, .invalidValue),
      (#"{"type":"chat.waves","run":1,"highlights":[0,1,1,1,1]}"#, .invalidValue),
      (#"{"type":"chat.waves","run":1,"highlights":[0,-1,1,1,1,0]}"#, .invalidValue),
      (#"{"type":"chat.waves","run":1,"highlights":[0,1,1,1,2000000000,0]}"#, .invalidValue),
      (#"{"type":"chat.waves","run":1,"highlights":[0,1,1,1,1,1]}"#, .invalidValue),
      (#"{"type":"chat.waves","run":1,"highlights":[0,1,1,1,1,0],"words":["a"]}"#, .invalidValue),
      (
        #"{"type":"chat.waves","run":1,"highlights":[0,1,1,1,1,6],"words":["a","b","c","d","e","f"]}"#,
        .invalidValue
      ),
      (
        #"{"type":"chat.waves","run":1,"highlights":[\#(Array(repeating: "0,1,1,1,1,0", count: 65).joined(separator: ","))]}"#,
        .invalidValue
      ),
    ] {
      #expect(decodeOwn(line) == .rejected(reason, room: "main"), "\(line)")
    }
    #expect(decodeOwn(#"{"type":"chat.clear"}"#) == .event(.chat(.clear)))
  }
}
