import LiveEvents
import Testing
import WireFormats

/// Tests the descriptions of rejected lines.
struct NativeFaultTests {
  static let faults: [(line: String, fault: String?)] = [
    (#"{"type":"viewers"}"#, "'count' of viewers"),
    (#"  {"type":"viewers","count":"x"}"#, "'count' of viewers"),
    (#"{"type":"viewers","count":1,"ts":"x"}"#, nil),
    (#"{"type":"chat.message","id":"1","text":"hi"}"#, "'user' of chat.message"),
    (
      #"{"type":"chat.message","id":"1","user":{"name":"n"},"text":"hi"}"#,
      "'user.id' of chat.message"
    ),
    (#"{"type":"stats"}"#, "stats"),
    (#"{"type":"stats","droppedFrames":-1}"#, "stats"),
    (#"{"type":"poll.begin","id":"p","title":"t","options":[]}"#, "'options' of poll.begin"),
    (#"{"type":"host.admit","all":true,"user":"u"}"#, "'all' of host.admit"),
    (#"{"type":"host.admit","all":1}"#, "'all' of host.admit"),
    (#"{"type":"options","clock":"sun"}"#, "'clock' of options"),
    (#"{"type":"wave"}"#, "'wave'"),
    (#"{"type":7}"#, "'type'"), (#"{"count":7}"#, "'type'"),
    // Text from clients is shown only if it is a word.
    (#"{"type":"a b"}"#, nil), (#"{"type":"a\u001b[2J"}"#, nil),
    (#"{"type":"\#(String(repeating: "x", count: 41))"}"#, nil),
    (#"{"type":"viewers","count":}"#, nil), (#"{"type":"viewers","count":1}"#, nil),
    ("hello", nil), ("PING :tmi.twitch.tv", nil),
    (#"{"type":"viewers","room":"Bad Room","count":1}"#, nil),
  ]

  @Test(arguments: faults)
  func `the description of a rejected line names the faulty member`(line: String, fault: String?) {
    var decoder = LineDecoder()
    let slab = ByteSlab(Array(line.utf8))
    let slice = ByteSlab.Slice(offset: 0, count: slab.count)
    #expect(decoder.fault(of: slice, in: slab) == fault)
  }

  @Test func `describing the error of a line does not change the decoder`() throws {
    let first = #"{"type":"viewers","room":"a"}"# + "\n"
    let second = #"{"type":"viewers","room":"b","count":2}"# + "\n"
    let slab = ByteSlab(Array((first + second).utf8))
    var decoder = LineDecoder()
    var offset = 0
    let bad = try #require(slab.nextLine(at: &offset))
    guard case .rejected(.missingMember, _) = decoder.decode(slab, line: bad, arrival: 1) else {
      Issue.record("the line was not rejected")
      return
    }
    #expect(decoder.fault(of: bad, in: slab) == "'count' of viewers")
    let good = try #require(slab.nextLine(at: &offset))
    guard case .event(let event, let room) = decoder.decode(slab, line: good, arrival: 1) else {
      Issue.record("the line was rejected")
      return
    }
    #expect(event.payload.nativeType == "viewers")
    #expect(decoder.name(of: room).description == "b")
  }
}
