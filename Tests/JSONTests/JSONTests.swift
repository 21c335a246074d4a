import JSON
import Testing

@Suite struct JSONTests {
  static let accepted: [(String, JSONValue)] = [
    (" null ", .null), ("true", true), ("-0", 0), ("9223372036854775807", .integer(.max)),
    ("9223372036854775808", 9_223_372_036_854_775_808.0), ("1.0", .number(1)), ("1e2", 100.0),
    (#""\u00e4\ud83d\ude00\/\b""#, "ä😀/\u{8}"), ("[]", []), ("[1 , [2]]", [1, [2]]),
    (#"{"a":{"b":[]},"c":null}"#, ["a": ["b": []], "c": .null]),
    (String(repeating: "[", count: 128) + String(repeating: "]", count: 128), nested(128)),
  ]

  static func nested(_ depth: Int) -> JSONValue {
    (1..<depth).reduce([]) { value, _ in [value] }
  }

  @Test(arguments: accepted)
  func `valid JSON is parsed`(text: String, value: JSONValue) throws {
    #expect(try JSONValue(parsing: text) == value)
    #expect(try JSONValue(parsing: value.serialized()) == value)
  }

  static let refused: [(String, JSONParseError.Reason)] = [
    ("", .unexpectedEnd), ("tru", .unexpectedEnd), ("nil", .unexpectedByte), ("01", .trailingBytes),
    ("1.", .unexpectedEnd), (".5", .unexpectedByte), ("+1", .unexpectedByte),
    ("1e", .unexpectedEnd),
    ("-", .unexpectedEnd), ("1e999", .numberOutOfRange), ("NaN", .unexpectedByte),
    ("[1,]", .unexpectedByte), ("[1 2]", .unexpectedByte), ("{\"a\" 1}", .unexpectedByte),
    ("{\"a\":1,}", .unexpectedByte), ("{a:1}", .unexpectedByte), ("{} {}", .trailingBytes),
    ("{\"a\":1,\"a\":2}", .duplicateMember), ("\"\n\"", .unexpectedByte), ("\"", .unexpectedEnd),
    (#""\x""#, .invalidEscape), (#""\ud800""#, .invalidEscape),
    (#""\ud800\u0041""#, .invalidEscape),
    (#""\u12g4""#, .invalidEscape), ("{\"a\":1", .unexpectedEnd), ("[", .unexpectedEnd),
    (String(repeating: "[", count: 129), .tooDeep),
  ]

  @Test(arguments: refused)
  func `invalid JSON is rejected`(text: String, reason: JSONParseError.Reason) throws {
    let error = #expect(throws: JSONParseError.self) { try JSONValue(parsing: text) }
    #expect(error?.reason == reason)
  }

  @Test func `invalid UTF-8 is rejected`() throws {
    let bytes: [UInt8] = [0x22, 0xC3, 0x28, 0x22]
    let error = #expect(throws: JSONParseError.self) { try JSONValue(parsing: bytes) }
    #expect(error?.reason == .invalidUTF8)
  }

  @Test func `equal JSON values are always written as the same text`() {
    let value: JSONValue = ["b": [1, 2.5, .null, false], "a": "\"\\\u{1}\u{1F}\n\u{0}ü"]
    #expect(value.description == #"{"a":"\"\\\u0001\u001f\n\u0000ü","b":[1,2.5,null,false]}"#)
  }

  struct Everything: Codable, Equatable {
    enum Kind: String, Codable { case one, two }
    struct Inner: Codable, Equatable { var list: [Int?] }
    var kind = Kind.two
    var integer: UInt8 = 255
    var double = 1.0
    var text = "ä"
    var absent: String?
    var inner = Inner(list: [1, nil, 3])
    var map = ["x": [true]]
    var raw: JSONValue = ["any": [1, "b"]]
    var empty: [Int] = []
  }

  @Test func `Codable values are encoded and decoded unchanged`() throws {
    let json = try JSONValue(encoding: Everything())
    #expect(json["inner"] == ["list": [1, .null, 3]])
    #expect(json["raw"] == ["any": [1, "b"]])
    #expect(json["empty"] == [])
    #expect(json["absent"] == nil)
    #expect(try json.decode() == Everything())
    #expect(try JSONValue(parsing: json.serialized()).decode() == Everything())
  }

  @Test func `decoding a number that does not fit its type is an error`() {
    #expect(throws: DecodingError.self) { try JSONValue.integer(256).decode(UInt8.self) }
    #expect(throws: DecodingError.self) { try JSONValue.number(1.0).decode(Int.self) }
    #expect(throws: EncodingError.self) { try JSONValue(encoding: [Double.nan]) }
    #expect(throws: EncodingError.self) { try JSONValue(encoding: UInt64.max) }
  }
}
