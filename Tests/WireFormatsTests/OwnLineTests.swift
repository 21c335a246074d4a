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
