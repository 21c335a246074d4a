import TerminalScreen
import Testing

@Suite struct WrappingTests {
  private func lines(_ text: String, by name: String = "", width: Int) -> [String] {
    let line = StyledLine([(name, .strong), (text, .plain)].filter { !$0.0.isEmpty })
    return line.wrapped(width: width).map(\.text)
  }

  @Test func `Chinese and Japanese text after a name fills the rest of the line`() {
    #expect(
      lines(" こんばんは。今日も楽しみにしています", by: "山田太郎:", width: 24)
        == ["山田太郎: こんばんは。今", "  日も楽しみにしています"])
    #expect(
      lines(" 大家好，今天的直播真的很有意思", by: "bob:", width: 16) == ["bob: 大家好，今", "  天的直播真的很", "  有意思"])
  }

  @Test func `no line begins with a closing character or ends with an opening one`() {
    #expect(
      lines("abcdefgh「今日」は、カッター。", width: 12) == [
        "abcdefgh「今", "  日」は、", "  カッター。",
      ])
    let text = String(repeating: "「キャンプ」、（今日ー）。", count: 20)
    for width in 12...40 {
      for line in lines(text, width: width) {
        #expect(TerminalText.width(line) <= width)
        let trimmed = line.drop { $0 == " " }
        #expect(trimmed.first.map { "」、）。ーャ".contains($0) } == false, "\(width): \(line)")
        #expect(trimmed.last.map { "「（".contains($0) } == false, "\(width): \(line)")
      }
    }
  }

  @Test func `an address longer than a line begins on the line of the name`() {
    let address = "https://example.org/" + String(repeating: "a", count: 40)
    #expect(
      lines(" " + address, by: "url:", width: 30) == [
        "url: https://example.org/aaaaa", "  " + String(repeating: "a", count: 28), "  aaaaaaa",
      ])
    // The address begins on the next line if only a few letters would fit.
    #expect(
      lines(" " + address, by: "a long, long, long name:", width: 30).first
        == "a long, long, long name:")
  }

  @Test func `Korean and other words are not broken if they fit a line`() {
    #expect(
      lines(" 안녕하세요 여러분, 오늘 방송", by: "한국어:", width: 20)
        == ["한국어: 안녕하세요", "  여러분, 오늘 방송"])
    #expect(lines("one two three four", width: 12) == ["one two", "  three four"])
  }

  @Test(arguments: 11...40)
  func `wrapping removes nothing from a text but spaces`(width: Int) {
    let text = "ann: 👩‍👩‍👧👍🏽🇰🇷 mixed 한글と漢字、and https://example.org/" + String(repeating: "x", count: 60)
    let wrapped = lines(text, width: width)
    #expect(wrapped.joined().filter { $0 != " " } == text.filter { $0 != " " })
    #expect(wrapped.allSatisfy { TerminalText.width($0) <= width })
  }
}
