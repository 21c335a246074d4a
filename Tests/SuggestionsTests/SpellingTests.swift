import Suggestions
import Testing

struct SpellingTests {
  static let verbs = ["status", "rooms", "show", "watch", "record"]

  static let cases: [(word: String, expected: String?)] = [
    ("statsu", "status"), ("rec", "record"), ("sho", "show"), ("xyz", nil), ("", nil),
    ("watch", "watch"), ("rooms!", "rooms"),
  ]

  @Test(arguments: cases)
  func `The nearest word is suggested, a strange one is not guessed at`(
    word: String, expected: String?
  ) {
    #expect(Spelling.nearest(to: word, among: Self.verbs) == expected)
  }

  @Test func `A hint names the nearest word, or all there are`() {
    #expect(Spelling.hint(for: "statsu", among: Self.verbs) == "; did you mean 'status'?")
    #expect(Spelling.hint(for: "xyz", among: ["a b", "c d"]) == "; use one of a b, c d")
    #expect(Spelling.hint(for: "xyz", among: []) == "")
  }
}
