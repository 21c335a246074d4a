import ChatImport
import TestSupport
import Testing

struct HTMLTextTests {
  @Test(arguments: [
    ("plain text", "plain text"),
    ("a &lt;b&gt; &amp;amp; &quot;c&quot; &#39;d&#x27; &apos;", "a <b> &amp; \"c\" 'd' '"),
    ("&#233;&#xE9;&nbsp;x", "éé x"),
    (
      "&unknown; &; & &#0; &#xD800; &#1114112; &verylongname;",
      "&unknown; &; & &#0; &#xD800; &#1114112; &verylongname;"
    ),
    ("one<br>two<BR/>three", "one two three"),
    ("<p>one</p><p>two</p>", "one two"),
    (#"hi <img class="emoji" alt=":wave:" src="a.png"> you"#, "hi :wave: you"),
    (#"<img alt='a &amp; b'>"#, "a & b"),
    (#"<img src="a=b" alt=x>"#, "x"),
    (#"<a href="https://x.example">link</a>"#, "link"),
    ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
    ("a <b without an end", "a <b without an end"),
    ("<!-- a comment -->x", "x"),
    ("<", "<"), ("&", "&"), ("", ""), ("<img alt=", "<img alt="), ("<img alt=\"x>", ""),
  ])
  func `HTML tags are removed, references resolved, and images replaced by their descriptions`(
    html: String, text: String
  ) {
    #expect(HTMLText.plain(html) == text)
  }

  @Test(.timeLimit(.minutes(1)))
  func `hostile HTML is converted in linear time`() {
    for piece in ["<", "<a", "&", "&#", "<img alt=\"", "<img a=", "&amp", ">"] {
      let text = String(repeating: piece, count: 200_000)
      #expect(HTMLText.plain(text).utf8.count <= text.utf8.count)
      _ = HTMLText.plain(text + ">")
    }
  }

  @Test func `the plain text of 100,000 seeded HTML texts is never longer than the HTML`() {
    var generator = SplitMix64(seed: 19)
    let pieces = [
      "<", ">", "&", ";", "img", " alt=", "\"", "'", "#x", "41", "amp", "é", "br", "/p", " ", "=",
    ]
    for _ in 0..<100_000 {
      let text = (0..<Int.random(in: 0...12, using: &generator))
        .map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
      #expect(HTMLText.plain(text).utf8.count <= text.utf8.count)
    }
  }
}
