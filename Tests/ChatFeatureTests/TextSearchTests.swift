import ChatFeature
import LiveEvents
import TestSupport
import Testing

@Suite struct TextSearchTests {
  /// The definition of the search: compares the words at each position.
  private func model(_ words: [String], _ text: [UInt8], wholeWord: Bool) -> Bool {
    words.map { $0.utf8.map(\.asciiLowercased) }.contains { word in
      !word.isEmpty && word.count <= text.count
        && (0...(text.count - word.count)).contains { start in
          let end = start + word.count
          let isPart =
            end < text.count
            && (text[end] == UInt8(ascii: "_") || text[end] >= 128
              || Character(Unicode.Scalar(text[end])).isLetter
              || Character(Unicode.Scalar(text[end])).isNumber)
          return text[start..<end].map(\.asciiLowercased) == word && !(wholeWord && isPart)
        }
    }
  }

  @Test(arguments: [false, true])
  func `a text search gives the same result as comparing the words at each position`(
    wholeWord: Bool
  ) {
    var random = SplitMix64(seed: 7)
    let letters = Array("aaabB@_1 é".utf8)
    func bytes(_ range: Range<Int>) -> [UInt8] {
      (0..<Int.random(in: range, using: &random)).map { _ in
        letters[Int.random(in: 0..<letters.count, using: &random)]
      }
    }
    var found = 0
    for _ in 0..<3_000 {
      let words = (0..<Int.random(in: 0..<5, using: &random)).map { _ in
        String(decoding: bytes(0..<6).filter { $0 < 128 }, as: UTF8.self)
      }
      let text = bytes(0..<24)
      let search = TextSearch(words, wholeWord: wholeWord)
      let outcome = text.withUnsafeBufferPointer { search.search($0) }
      #expect(
        outcome.isFound == model(words, text, wholeWord: wholeWord), "\(words) in \(text)")
      found += outcome.isFound ? 1 : 0
    }
    #expect((300..<2_900).contains(found))
  }

  @Test(
    arguments: [
      (["@" + String(repeating: "@", count: 255) + "x"], "@"),
      ((0..<32).map { String(repeating: "ab", count: 90 + $0) + "c" }, "ab"),
      ((1...32).map { String(repeating: "a", count: $0 * 8 - 1) + "b" }, "a"),
      ([String(repeating: "A", count: 256)], "aB"),
    ])
  func `searching twice as much repetitive text takes at most 2.2 times the steps`(
    words: [String], unit: String
  ) {
    func steps(_ length: Int) -> Int {
      let text = Array(String(repeating: unit, count: length / unit.utf8.count).utf8)
      let outcome = text.withUnsafeBufferPointer { TextSearch(words).search($0) }
      #expect(!outcome.isFound)
      return outcome.steps
    }
    // The text is long enough that its beginning, which takes one step per byte, does not matter.
    for length in [1_024, 2_048] {
      #expect(Double(steps(2 * length)) <= 2.2 * Double(steps(length)))
      #expect(steps(length) <= 2 * length)
    }
    #expect(
      steps(1 << 16) == steps(TextSearch.searchedBytes), "The rest of a text must not be searched.")
  }
}
