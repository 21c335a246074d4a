import JSON
import Testing

/// Tests almost valid JSON, as programs write it in practice.
struct LenientTests {
  private static func read(_ text: String) -> String? {
    JSONValue(lenient: Array(text.utf8)).map { String(decoding: $0.serialized(), as: UTF8.self) }
  }

  @Test(arguments: [
    (#"{"a":1}"#, #"{"a":1}"#), ("\u{FEFF}[1]", "[1]"), (#"["\ud800"]"#, #"["\#u{FFFD}"]"#),
    (#"["\udc00\ud83d\ude00\ud83dx"]"#, #"["\#u{FFFD}\#u{1F600}\#u{FFFD}x"]"#),
    ("[\"a\nb\"]", #"["a\nb"]"#), ("[NaN,-Infinity,1e400,+5,01,true]", "[null,null,null,5,1,true]"),
    (#"["\\",NaN,"\""]"#, #"["\\",null,"\""]"#),
  ])
  func `invalid JSON text with an unambiguous meaning is repaired`(text: String, value: String) {
    #expect(Self.read(text) == value)
  }

  @Test(arguments: [
    "", "{", "[1,]", "nonsense", "nonsense here", #"{"a" 1}"#, #"["a"#, "[\\]", "}", "\"\\u12",
  ])
  func `invalid JSON text with an ambiguous meaning is rejected`(text: String) {
    #expect(Self.read(text) == nil)
  }

  @Test func `a JSON value that is nested too deeply becomes null, and other values are kept`() {
    let deep = String(repeating: "[", count: 5_000) + #""]""# + String(repeating: "]", count: 5_000)
    #expect(JSONValue(lenient: Array("{\"a\":\(deep),\"b\":1}".utf8))?["b"] == 1)
  }

  @Test func `bytes in JSON that are not UTF-8 are replaced, and other bytes are kept`() {
    #expect(JSONValue(lenient: [0x5B, 0x22, 0xFF, 0x41, 0x22, 0x5D]) == ["\u{FFFD}A"])
  }
}
