import LiveEvents
import Testing
import WireFormats

/// Tests the origin of events, which comes from their line or their connection.
@Suite struct OriginLineTests {
  private func decode(_ line: String, at origin: Origin = .none) -> Outcome {
    var decoder = LineDecoder()
    decoder.origin = origin
    let slab = ByteSlab(Array(line.utf8))
    let slice = ByteSlab.Slice(offset: 0, count: line.utf8.count)
    return outcome(decoder.decode(slab, line: slice, arrival: 7)) {
      decoder.name(of: $0).description
    }
  }

  private func origin(_ line: String, at origin: Origin = .none) -> Origin? {
    decode(line, at: origin).event?.origin
  }

  private let twitch = Origin(platform: "twitch", source: "main")

  @Test func `an event has the origin named in its line, or else the origin of its connection`() {
    #expect(origin(#"{"type":"chat.clear"}"#) == Origin.none)
    #expect(origin(#"{"type":"chat.clear"}"#, at: twitch) == twitch)
    #expect(
      origin(#"{"type":"chat.clear","platform":"k\u0069ck"}"#) == Origin(platform: "kick"))
    #expect(
      origin(#"{"type":"chat.clear","platform":"kick"}"#, at: twitch)
        == Origin(platform: "kick", source: "main"))
    #expect(
      origin(#"{"type":"chat.clear","source":"mine","platform":null}"#, at: twitch)
        == Origin(platform: "twitch", source: "mine"))
    #expect(
      origin(#"{"type":"chat.clear","platform":""}"#, at: twitch)
        == Origin(platform: "", source: "main"))
    #expect(origin("@target-user-id=4 :t CLEARCHAT #b :bob", at: twitch) == twitch)
  }

  @Test func `lines that alternate between platforms keep their platforms`() {
    var decoder = LineDecoder()
    for number in 0..<100 {
      let platform = ["kick", "youtube", "kick", "tiktok"][number % 4]
      let line = #"{"type":"chat.clear","platform":"\#(platform)"}"#
      let decoded = decoder.decode(
        ByteSlab(Array(line.utf8)), line: .init(offset: 0, count: line.utf8.count), arrival: 0)
      guard case .event(let event, _) = decoded else {
        Issue.record("not an event: \(line)")
        continue
      }
      #expect(event.origin == Origin(platform: Text(platform)))
    }
  }

  @Test func `states of sources and chat filters have no origin`() {
    let gap = decode(#"{"type":"gap","source":"irc","from":1,"to":2,"reason":""}"#, at: twitch)
    #expect(gap.event?.origin == Origin.none)
    let filter = decode(#"{"type":"host.filter","platform":"kick"}"#, at: twitch)
    #expect(filter == .event(.chat(.filter(MessageFilter(platform: "kick")))))
  }

  @Test(arguments: ["5", "{}", "\"" + String(repeating: "x", count: 257) + "\""])
  func `a platform that is not a valid name is ignored`(value: String) {
    #expect(
      decode(#"{"type":"chat.clear","platform":\#(value)}"#) == .event(.chat(.clear)))
  }

  @Test func `an encoded line contains the parts of its origin that are known`() {
    func written(_ origin: Origin) -> String {
      var bytes: [UInt8] = []
      NativeEncoder.append(
        LiveEvent(timestamp: 1, payload: .chat(.clear), origin: origin), to: &bytes)
      return String(decoding: bytes, as: UTF8.self)
    }
    #expect(written(.none) == #"{"type":"chat.clear","ts":1}"# + "\n")
    #expect(
      written(twitch)
        == #"{"type":"chat.clear","ts":1,"platform":"twitch","source":"main"}"# + "\n")
    #expect(
      written(Origin(platform: "kick")) == #"{"type":"chat.clear","ts":1,"platform":"kick"}"# + "\n"
    )
  }

  @Test func `the options of a connection can contain platform and source`() {
    let line = #"{"type":"options","platform":"twitch","source":"main"}"#
    var decoder = LineDecoder()
    let decoded = decoder.decode(
      ByteSlab(Array(line.utf8)), line: .init(offset: 0, count: line.utf8.count), arrival: 0)
    guard case .control(.options(let options)) = decoded else {
      Issue.record("the line was not decoded as options")
      return
    }
    #expect(options == ConnectionOptions(platform: "twitch", source: "main"))
  }
}
