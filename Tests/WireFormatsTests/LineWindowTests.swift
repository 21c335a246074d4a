import LiveEvents
import TestSupport
import Testing
import WireFormats

/// Tests that lines which share a pass over their tokens are decoded like separate lines.
@Suite struct SlabLineTests {
  /// Returns the outcomes of a slab's lines when one decoder decodes each in a separate slab.
  private func apart(_ slab: ByteSlab, override: RoomName?) -> [Outcome] {
    var decoder = LineDecoder()
    decoder.overrideRoom(override)
    var outcomes: [Outcome] = []
    var offset = 0
    while let line = slab.nextLine(at: &offset) {
      let alone = slab.withBytes(of: line) { ByteSlab($0) }
      let slice = ByteSlab.Slice(offset: 0, count: alone.count)
      let decoded = decoder.decode(alone, line: slice, arrival: 7)
      outcomes.append(outcome(decoded) { decoder.name(of: $0).description })
    }
    return outcomes
  }

  /// Returns the outcomes of a slab's lines when they are decoded in the slab.
  private func together(
    _ slab: ByteSlab, with decoder: inout LineDecoder, override: RoomName?
  ) -> [Outcome] {
    decoder.overrideRoom(override)
    var outcomes: [Outcome] = []
    var offset = 0
    while let line = slab.nextLine(at: &offset) {
      let decoded = decoder.decode(slab, line: line, arrival: 7)
      outcomes.append(outcome(decoded) { decoder.name(of: $0).description })
    }
    return outcomes
  }

  private func expectSame(
    _ bytes: [UInt8], with decoder: inout LineDecoder, override: RoomName? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let slab = ByteSlab(bytes)
    let expected = apart(slab, override: override)
    let found = together(slab, with: &decoder, override: override)
    guard found != expected else { return }
    let place = zip(found, expected).enumerated().first { $1.0 != $1.1 }
    Issue.record(
      """
      line \(place?.offset ?? min(found.count, expected.count)) of \(expected.count): \
      \(place?.element.0.description ?? "-") is not \(place?.element.1.description ?? "-"): \
      \(String(reflecting: String(decoding: bytes.prefix(400), as: UTF8.self)))
      """, sourceLocation: sourceLocation)
  }

  /// Lines that end within a token, or that are complete only together with their neighbours.
  static let doubtful = [
    #"{"type":"title","title":"a"#, #""}"#, #"{"type":"title","title":"a\"#, #"\"}"#, "{", "}", "[",
    "]", "\"", "\\", #"{"type":"title","title":"#, #""b"}"#, #"{"type":"title","title":["#,
    #"{"type":"chat.clear"}}"#, #"{"type":"chat.clear"} {"type":"chat.clear"}"#,
    #"{"type":"chat.clear"},"#, #","room":"x"}"#, #"{"type":"chat.clear""#, #"{"a":{"#, "}}",
    #"{"type":"chat.clear"}\"#, #"{"type":"chat.clear"}x"#, "x{\"type\":\"chat.clear\"}",
    "{}", "[]", "", " ", "\t", "\r", #" {"type":"chat.clear"} "#, #"{ "type" : "chat.clear" } "#,
    "\u{FEFF}{\"type\":\"chat.clear\"}", #"{"type":"title","title":"a\"b\\"}"#,
    #"{"type":"title","title":"\u0041\q"}"#, #"{"ty\u0070e":"chat.clear"}"#,
    #"{"type":"chat.clear","ts":12"#, "3}", #"{"type":"chat.clear","ts":1 "#, "{\"type\"",
    ":\"chat.clear\"}", "PING :\"", #"@id=1;a=\" :a!a@a PRIVMSG #c :"{"#, "{\"a\u{0}\":1}",
  ]

  private func line(_ random: inout SplitMix64) -> [UInt8] {
    let valid = HostileLineTests.valid
    let kind = Int.random(in: 0..<100, using: &random)
    if kind < 4 {
      return Array(Self.doubtful[Int.random(in: 0..<Self.doubtful.count, using: &random)].utf8)
    }
    if kind == 4 {
      let length = Int.random(in: 0..<40_000, using: &random)
      return Array(
        "{\"type\":\"title\",\"title\":\"\(String(repeating: "x", count: length))\"}".utf8)
    }
    var bytes = Array(valid[Int.random(in: 0..<valid.count, using: &random)].utf8)
    guard kind < 8, !bytes.isEmpty else { return bytes }
    let place = Int.random(in: 0..<bytes.count, using: &random)
    switch kind {
    case 5: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 6: bytes.removeSubrange(place...)
    default:
      let insertions = Array("\"\\{}[]:,;= @#\u{0}\r\u{1}éu0-9.e".utf8) + [0xFF]
      bytes.insert(insertions[Int.random(in: 0..<insertions.count, using: &random)], at: place)
    }
    return bytes
  }

  @Test(arguments: 11...14 as ClosedRange<UInt64>)
  func `each line is decoded as if it were alone, whatever lines are before and after it`(
    seed: UInt64
  ) {
    var random = SplitMix64(seed: seed)
    // One decoder for all slabs, to show that it keeps nothing from one slab to the next.
    var decoder = LineDecoder()
    for round in 0..<400 {
      // In small slabs, one line can make the whole pass fail. In large slabs, such a line makes
      // only some windows fail.
      var bytes: [UInt8] = []
      for _ in 0..<Int.random(in: 1...(round % 8 == 0 ? 400 : 12), using: &random) {
        bytes += line(&random)
        if Int.random(in: 0..<8, using: &random) == 0 { bytes.append(0x0D) }
        bytes.append(0x0A)
      }
      if Bool.random(using: &random) { bytes += line(&random) }
      expectSame(bytes, with: &decoder, override: round % 5 == 0 ? RoomName("mine") : nil)
    }
  }

  @Test func `a line is decoded as if it were alone next to any other line that looks unusual`() {
    var decoder = LineDecoder()
    let plain = #"{"type":"chat.message","id":"1","user":{"id":"2","name":"n"},"text":"t","ts":5}"#
    for first in Self.doubtful {
      for second in Self.doubtful {
        for end in ["\n", "\r\n"] {
          let lines = [plain, first, second, plain, first, plain]
          expectSame(Array(lines.map { $0 + end }.joined().utf8), with: &decoder)
        }
      }
    }
  }

  @Test(arguments: 16_300...16_460)
  func `a line may cross the end of the decoder's window`(length: Int) {
    let head = #"{"type":"title","title":""#
    let fill = String(repeating: "x", count: length - head.utf8.count - 2)
    let short = #"{"type":"viewers","count":12}"#
    var decoder = LineDecoder()
    expectSame(Array("\(head)\(fill)\"}\n\(short)\n\(short)\n".utf8), with: &decoder)
    expectSame(Array("\(short)\n\(head)\(fill)\"}\n\(short)\n".utf8), with: &decoder)
  }

  @Test func `lines may be decoded in any order, and lines may be skipped`() {
    var random = SplitMix64(seed: 15)
    var decoder = LineDecoder()
    var bytes: [UInt8] = []
    for _ in 0..<200 { bytes += line(&random) + [0x0A] }
    let slab = ByteSlab(bytes)
    for _ in 0..<4000 {
      let start = Int.random(in: 0..<slab.count, using: &random)
      // The slices start at a brace, so that many of them begin like a line.
      let brace = bytes[start...].firstIndex(of: 0x7B) ?? start
      let end = min(slab.count, brace + Int.random(in: 0..<400, using: &random))
      let line = ByteSlab.Slice(offset: brace, count: end - brace)
      let found = outcome(decoder.decode(slab, line: line, arrival: 7)) {
        decoder.name(of: $0).description
      }
      #expect(found == decode(bytes[brace..<end]))
    }
  }

  @Test func `a decoder releases the received bytes after their last line`() {
    var decoder = LineDecoder()
    weak var kept: ByteSlab?
    for last in ["{\"type\":\"chat.clear\"}\n", "PING\n", "{\n", "\n", "\r\n", "[]\r\n", " \n"] {
      do {
        let slab = ByteSlab(("{\"type\":\"chat.clear\"}\n" + last).utf8)
        kept = slab
        _ = together(slab, with: &decoder, override: nil)
      }
      #expect(kept == nil, "\(last)")
    }
  }
}
