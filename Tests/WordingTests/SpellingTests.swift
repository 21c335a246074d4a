import Testing
import Wording

struct SpellingTests {
  static let verbs = ["status", "rooms", "show", "watch", "record"]

  static let cases: [(word: String, expected: String?)] = [
    ("statsu", "status"), ("rec", "record"), ("sho", "show"), ("xyz", nil), ("", nil),
    ("watch", "watch"), ("rooms!", "rooms"),
  ]

  @Test(arguments: cases)
  func `the nearest word is suggested, but an unrelated one is not`(
    word: String, expected: String?
  ) {
    #expect(Spelling.nearest(to: word, among: Self.verbs) == expected)
  }

  @Test func `a hint names the nearest word, or all words`() {
    #expect(Spelling.hint(for: "statsu", among: Self.verbs) == "; did you mean 'status'?")
    #expect(Spelling.hint(for: "xyz", among: ["a b", "c d"]) == "; use one of a b, c d")
    #expect(Spelling.hint(for: "xyz", among: []) == "")
  }
}
