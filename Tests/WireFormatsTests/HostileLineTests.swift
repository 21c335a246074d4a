import LiveEvents
import TestSupport
import Testing
import WireFormats

@Suite struct HostileLineTests {
  static let valid: [String] =
    NativeCase.all.map(\.line) + [
      "@badges=a/1;display-name=A\\sB;id=1;tmi-sent-ts=5;user-id=2 :a!a@a PRIVMSG #chan :hé yo",
      "@ban-duration=1;target-user-id=2;tmi-sent-ts=5 :t CLEARCHAT #chan :bob",
      "@id=1;msg-id=raid;msg-param-viewerCount=5;user-id=2 :t USERNOTICE #chan",
      #"{"type":"sync","token":"x"}"#, #"{"type":"options","room":"a","clock":"event"}"#,
    ]

  /// Encodes and decodes the event again. This reads all slices of the event and so reveals invalid
  /// ones.
  func read(_ outcome: Outcome) {
    guard let event = outcome.event else { return }
    var line: [UInt8] = []
    NativeEncoder.append(event, room: RoomName(outcome.room ?? ""), to: &line)
    let again = decode(line.dropLast())
    #expect(again == outcome, "\(String(decoding: line, as: UTF8.self))")
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `a valid line with some bytes changed is decoded or rejected`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let insertions = Array("\"\\{}[]:,;= @#\u{0}\n\u{1}éu0-9.e".utf8)
    for _ in 0..<8000 {
      var bytes = Array(Self.valid[Int.random(in: 0..<Self.valid.count, using: &random)].utf8)
      for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes.removeSubrange(place...)
        case 2:
          bytes.insert(insertions[Int.random(in: 0..<insertions.count, using: &random)], at: place)
        case 3: bytes.remove(at: place)
        default:
          let end = Int.random(in: place..<bytes.count, using: &random)
          bytes.insert(contentsOf: bytes[place...end], at: place)
        }
      }
      let outcome = decode(bytes)
      let kinds = [
        outcome.event != nil, outcome.reason != nil, outcome.control != nil, outcome.isBlank,
      ]
      #expect(kinds.count { $0 } == 1)
      read(outcome)
    }
  }

  /// Comparing or hashing such text by the rules of Unicode takes quadratic time. For 1,000 of
  /// these lines, it would take much longer than the time limit.
  @Test(.timeLimit(.minutes(1)), arguments: NastyRun.all)
  func `a line that is slow to compare as Unicode is decoded or rejected in time`(run: NastyRun) {
    for (line, reason) in [
      (#"{"type":"T"}"#, RejectionReason.unknownType),
      (#"{"type":"stream","state":"T"}"#, .invalidValue),
      (#"{"type":"host.scroll","position":"T"}"#, .invalidValue),
      (#"{"type":"slider","control":"T","phase":"begin"}"#, .invalidValue),
      (#"{"type":"slider","control":"a","phase":"T","value":0}"#, .invalidValue),
      (#"{"type":"recorder.state","state":"T"}"#, .invalidValue),
      (#"{"type":"title","title":"t","room":"T"}"#, .invalidRoom),
      (#"{"type":"options","room":"T"}"#, .invalidValue),
      (#"{"type":"options","clock":"T"}"#, .invalidValue),
      (#"{"type":"position","source":"","sequence":1}"#, .invalidValue),
      (#"{"type":"position","source":"s","sequence":-1}"#, .invalidValue),
      (#"{"type":"position","source":"s"}"#, .missingMember),
      (#"{"type":"options","format":"T"}"#, .invalidValue),
      ("@id=1;msg-id=T;user-id=2 :t USERNOTICE #chan", .malformedIRC),
      ("@T=1;id=1 PRIVMSG #T :x", .malformedIRC),
    ] {
      let text = run.text(bytes: 60_000)
      let bytes = line.replacing("T", with: text, maxReplacements: 1)
      for _ in 0..<100 {
        let outcome = decode(bytes)
        #expect(outcome.reason == reason, "\(line)")
      }
    }
    let title = decode(#"{"type":"title","title":"\#(run.text(bytes: 60_000))"}"#)
    // The text consists of whole scalars within the limit.
    guard case .header(.title(let kept))? = title.event?.payload else {
      Issue.record("the title was not accepted: \(title)")
      return
    }
    #expect((EventLimits.titleLength - 3...EventLimits.titleLength).contains(kept.byteCount))
    #expect(run.text(bytes: 60_000).utf8.starts(with: String(kept).utf8))
  }

  @Test(arguments: 5...6 as ClosedRange<UInt64>)
  func `lines of arbitrary bytes are rejected or ignored as blank`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let openings: [[UInt8]] = [[], [0x7B], [0x40], [0x3A], [0x7B, 0x22], [0x5B]]
    for _ in 0..<8000 {
      var bytes = openings[Int.random(in: 0..<openings.count, using: &random)]
      for _ in 0..<Int.random(in: 0...80, using: &random) {
        bytes.append(UInt8.random(in: 0...255, using: &random))
      }
      let outcome = decode(bytes)
      #expect(outcome.event == nil && (outcome.reason != nil || outcome.isBlank))
    }
  }

  @Test func `long lines of separators are decoded in bounded time and space`() {
    for line in [
      "@" + String(repeating: ";", count: 60_000), "@" + String(repeating: "=", count: 60_000),
      ":" + String(repeating: " ", count: 60_000), "{" + String(repeating: ",", count: 60_000),
      String(repeating: "{\"a\":", count: 12_000), String(repeating: " ", count: 60_000) + "x",
      "{\"" + String(repeating: "\\\"", count: 30_000) + "\":1}",
    ] {
      let outcome = decode(line)
      #expect(outcome.reason != nil)
    }
  }
}

/// Text that is cheap to send, but slow to compare, search or hash by the rules of Unicode.
struct NastyRun: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let unit: String

  static let all = [
    NastyRun(testDescription: "regional indicators", unit: "\u{1F1E6}"),
    NastyRun(testDescription: "alternating combining marks", unit: "\u{301}\u{316}"),
    NastyRun(testDescription: "joiners", unit: "\u{1F469}\u{200D}"),
    NastyRun(testDescription: "jamo", unit: "\u{1100}\u{1161}"),
  ]

  func text(bytes: Int) -> String { String(repeating: unit, count: bytes / unit.utf8.count) }
}
