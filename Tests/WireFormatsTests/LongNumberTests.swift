import LiveEvents
import TestSupport
import Testing
import WireFormats

/// Tests numbers of many lengths, because digits are processed eight at a time.
@Suite struct LongNumberTests {
  private func timestamp(_ number: String) -> Outcome {
    decode("{\"type\":\"chat.clear\",\"ts\":\(number)}")
  }

  @Test(arguments: 1...15)
  func `numbers of any number of digits are decoded to the right value`(length: Int) {
    var random = SplitMix64(seed: UInt64(length))
    for _ in 0..<200 {
      let digits = (0..<length).map { place in
        // The digits have no leading zero and give a year before 10000.
        place == 0
          ? Int.random(in: 1...(length == 15 ? 1 : 9), using: &random)
          : Int.random(in: 0...9, using: &random)
      }
      let value = digits.reduce(0) { $0 * 10 + Int64($1) }
      #expect(timestamp("\(value)") == .event(.chat(.clear), at: value))
      #expect(timestamp("\(value) ") == .event(.chat(.clear), at: value))
      // A negative time is replaced by the time of arrival.
      #expect(timestamp("-\(value)") == .event(.chat(.clear)))
      #expect(timestamp("0\(value)") == .rejected(.malformedJSON))
    }
  }

  @Test(arguments: 1...20)
  func `a number with another character at any position is malformed`(length: Int) {
    for place in 0..<length {
      for other in ["/", ":", "p", "\u{39}\u{B0}", "?", "@", "\u{7F}", "+", "-"] {
        var characters = [Character](repeating: "1", count: length)
        guard place > 0 || other != "-" else { continue }
        characters[place] = " "
        let number = String(characters).split(separator: " ", omittingEmptySubsequences: false)
          .joined(separator: other)
        #expect(timestamp(number) == .rejected(.malformedJSON), "\(number)")
      }
    }
  }

  @Test func `a number that is too long for its range is unusable but not malformed`() {
    for length in 16...40 {
      #expect(
        timestamp(String(repeating: "9", count: length)) == .event(.chat(.clear)))
    }
    #expect(
      decode(#"{"type":"recorder.progress","bytes":9007199254740992,"durationMs":12345678}"#)
        == .event(
          .recorder(
            .progress(
              RecorderProgress(bytes: 9_007_199_254_740_992, durationMilliseconds: 12_345_678)))))
  }
}
