import JSON
import Testing

@Suite struct JSONWriterTests {
  private func text(_ body: (inout JSONWriter) -> Void) -> String {
    var bytes: [UInt8] = []
    JSONWriter.append(to: &bytes, body)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func `members keep their order and are separated by commas`() {
    let json = text { json in
      json.appendObject { json in
        json.add("b", 1)
        json.add("a", 2.5)
        json.add("absent", nil as Int?)
        json.addObject("o") { $0.add("t", true) }
        json.addArray("l") { json in
          json.append("x")
          json.appendArray { _ in }
          json.appendObject { _ in }
          json.appendJSON("1e3")
        }
        json.name(text: "q\"")
        json.append(-1)
        json.addObject("e") { _ in }
      }
    }
    #expect(json == #"{"b":1,"a":2.5,"o":{"t":true},"l":["x",[],{},1e3],"q\"":-1,"e":{}}"#)
  }

  @Test func `the JSON writer appends to existing bytes`() {
    var bytes = Array("a line\n".utf8)
    JSONWriter.append(to: &bytes) { $0.append(1) }
    #expect(bytes == Array("a line\n1".utf8))
  }

  @Test func `every written string is parsed back unchanged`() throws {
    let string = String(String.UnicodeScalarView((0..<0x180).compactMap(Unicode.Scalar.init)))
    let written = text { $0.append(string) }
    #expect(try JSONValue(parsing: written) == .string(string))
    #expect(written == JSONValue.string(string).description)
    #expect(!written.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F })
  }

  @Test func `only characters that need an escape are escaped, at any position`() throws {
    for position in 0..<20 {
      for byte in UInt8(0)..<0x80 {
        var string = Array(repeating: UInt8(ascii: "a"), count: 20)
        string[position] = byte
        let written = text { $0.append(String(decoding: string, as: UTF8.self)) }
        let isEscaped = byte < 0x20 || [0x22, 0x5C, 0x7F].contains(byte)
        #expect((written.utf8.count > 22) == isEscaped, "\(byte) at \(position)")
        #expect(
          try JSONValue(parsing: written) == .string(String(decoding: string, as: UTF8.self)))
      }
    }
  }

  @Test func `text that is already escaped is not escaped again`() {
    let escaped = Array(#"a\"b\u00e9"#.utf8)
    #expect(
      text { json in escaped.withUnsafeBufferPointer { json.append(escaped: $0) } }
        == #""a\"b\u00e9""#)
  }
}
