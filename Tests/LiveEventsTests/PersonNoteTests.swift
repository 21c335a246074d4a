import LiveEvents
import Testing

@Suite struct PersonNoteTests {
  private let ann = PersonReference(id: "ann", platform: "twitch")

  @Test func `a note is one line of at most 500 bytes, and an empty note is possible`() {
    #expect(PersonNote(about: ann, "")?.text == "")
    #expect(PersonNote(about: ann, Text(String(repeating: "é", count: 250))) != nil)
    #expect(PersonNote(about: ann, Text(String(repeating: "é", count: 250) + "x")) == nil)
    for text in ["a\nb", "a\r", "\u{1B}[2J", "a\u{0}", "\u{9B}"] {
      #expect(PersonNote(about: ann, Text(text)) == nil)
    }
  }

  @Test func `a reference without a platform matches the identifier on every platform`() {
    #expect(ann.matches(ann) && ann.matches(PersonReference(id: "ann")))
    #expect(PersonReference(id: "ann").matches(ann))
    #expect(!ann.matches(PersonReference(id: "ann", platform: "kick")))
    #expect(!ann.matches(PersonReference(id: "bob", platform: "twitch")))
  }
}
