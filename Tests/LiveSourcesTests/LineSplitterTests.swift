import LiveSources
import TestSupport
import Testing

struct LineSplitterTests {
  private static func lines(
    _ pieces: [[UInt8]], maximum: Int = 64
  ) -> (lines: [String], tooLong: Int) {
    var splitter = LineSplitter(maximumLength: maximum)
    var lines: [String] = []
    for piece in pieces {
      piece.withUnsafeBytes { bytes in
        splitter.receive(bytes) { lines.append(String(decoding: $0, as: UTF8.self)) }
      }
    }
    return (lines, splitter.tooLong)
  }

  @Test func `received bytes give the same lines, however they are split`() {
    var generator = SplitMix64(seed: 4)
    let text = Array("one\r\ntwo\n\nthree \u{1F600}\r\nfour without an end".utf8)
    for _ in 0..<300 {
      var (pieces, rest) = ([[UInt8]](), text[...])
      while !rest.isEmpty {
        let count = min(rest.count, generator.pick(1..<9))
        pieces.append(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
      }
      #expect(Self.lines(pieces).lines == ["one", "two", "", "three \u{1F600}"])
    }
  }

  @Test func `a line that is too long is skipped and counted, however it is split`() {
    let long = [UInt8](repeating: 0x61, count: 100)
    let end: [UInt8] = [0x0A]
    for pieces in [
      [Array("a\n".utf8) + long + end + Array("b\n".utf8)],
      [Array("a\n".utf8)] + long.map { [$0] } + [end, Array("b\n".utf8)],
    ] {
      let result = Self.lines(pieces)
      #expect(result.lines == ["a", "b"])
      #expect(result.tooLong == 1)
    }
  }
}
