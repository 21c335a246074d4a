import LiveEvents
import Testing
import WireFormats

/// Events that only the program itself writes, into logs and recordings.
@Suite struct OwnLineTests {
  private static let payloads: [LiveEvent.Payload] = [
    .control(.surface(.began(surface: 3, controls: nil))),
    .control(.surface(.began(surface: 0, controls: []))),
    .control(.surface(.began(surface: 1, controls: ["zoom", "a \"b\""]))),
    .control(.surface(.ended(surface: 3))), .control(.surface(.ended(surface: nil))),
    .control(.surface(.restarted)), .control(.outcome(request: 12, .confirmed)),
    .control(.outcome(request: 12, .refused(reason: "no \"answer\""))),
    .control(.outcome(request: 1, .refused(reason: ""))),
    .control(.record(.start)), .control(.record(.stop)), .control(.record(.pause)),
    .control(.record(.resume)),
  ]

  private func decode(_ line: [UInt8], _ decoder: inout LineDecoder) -> Outcome {
    let slab = ByteSlab(line)
    let decoded = decoder.decode(
      slab, line: ByteSlab.Slice(offset: 0, count: line.count), arrival: 7)
    return outcome(decoded) { decoder.name(of: $0).description }
  }

  private func decodeOwn(_ line: String) -> Outcome {
    var decoder = LineDecoder(ofOwnLinesUpTo: 1_000)
    return decode(Array(line.utf8), &decoder)
  }

  @Test(arguments: payloads)
  func `what effects bring back is read from own lines, and from no others`(
    payload: LiveEvent.Payload
  ) {
    var line: [UInt8] = []
    NativeEncoder.append(LiveEvent(timestamp: 5, payload: payload), to: &line)
    line.removeLast()
    var own = LineDecoder(ofOwnLinesUpTo: 1_000)
    #expect(decode(line, &own) == .event(payload, at: 5))
    var strangers = LineDecoder()
    #expect(decode(line, &strangers) == .rejected(.unknownType, room: "main"))
  }

  @Test func `an own line that lacks something is rejected`() {
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
    ] {
      #expect(decodeOwn(line) == .rejected(reason, room: "main"), "\(line)")
    }
    #expect(decodeOwn(#"{"type":"chat.clear"}"#) == .event(.chat(.clear)))
  }
}
