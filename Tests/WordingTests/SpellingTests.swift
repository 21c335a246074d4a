import Testing
import Wording

struct SpellingTests {
  static let verbs = ["status", "rooms", "show", "watch", "record"]

  static let cases: [(word: String, expected: String?)] = [
    ("statsu", "status"), ("rec", "record"), ("sho", "show"), ("xyz", nil), ("", nil),
    ("watch", "watch"), ("rooms!", "rooms"),
  ]

  @Test(arguments: cases)
  func `the most similar word is suggested, and an unrelated word is not`(
    word: String, expected: String?
  ) {
    #expect(Spelling.nearest(to: word, among: Self.verbs) == expected)
  }

  @Test func `a hint names the most similar word, or else all words`() {
    #expect(Spelling.hint(for: "statsu", among: Self.verbs) == "; did you mean 'status'?")
    #expect(Spelling.hint(for: "xyz", among: ["a b", "c d"]) == "; use one of a b, c d")
    #expect(Spelling.hint(for: "xyz", among: []) == "")
  }
}
