import JSON
import Testing

/// Tests text that is cheap to send but expensive to compare, search or hash by the rules of
/// Unicode: the cost is quadratic in the number of repeated characters. At these sizes it would
/// take minutes to hours, so that a test would exceed its time limit.
@Suite(.timeLimit(.minutes(1))) struct NastyTextTests {
  static let bytes = 512 << 10

  /// The texts, named after the characters that they repeat.
  static let runs: [(name: String, unit: String)] = [
    ("regional indicators", "\u{1F1E6}"), ("alternating combining marks", "\u{301}\u{316}"),
    ("joiners", "\u{1F469}\u{200D}"), ("jamo", "\u{1100}\u{1161}"), ("letters", "a"),
  ]

  static func text(_ unit: String, _ end: String = "") -> String {
    String(repeating: unit, count: bytes / unit.utf8.count) + end
  }

  /// Half of the marks have one class, the other half a lower class, so all of them must be moved.
  static var unordered: String {
    String(repeating: "\u{301}", count: bytes / 4) + String(repeating: "\u{316}", count: bytes / 4)
  }

  static var nasty: [String] { runs.map { text($0.unit) } + [unordered] }

  @Test(arguments: 0..<6)
  func `names and texts that are slow to compare are parsed, compared and written`(index: Int)
    throws
  {
    let (text, other) = (Self.nasty[index], Self.nasty[index] + "x")
    let value: JSONValue = .object([JSONName(text): .string(text), JSONName(other): .string(other)])
    let read = try JSONValue(parsing: value.serialized())
    #expect(read == value)
    #expect(read[text] == .string(text))
    #expect(read[text] != read[other])
    #expect(Set([read, value]).count == 1)
    #expect(JSONName(text) < JSONName(other))
  }

  @Test(arguments: 0..<6)
  func `a member name beyond the limit is rejected before it is decoded`(index: Int) {
    let limits = JSONLimits(nameBytes: 256, members: 4096)
    let text = "{\"\(Self.nasty[index])\":0}"
    let error = #expect(throws: JSONParseError.self) {
      try JSONValue(parsing: Array(text.utf8), limits: limits)
    }
    #expect(error?.reason == .nameTooLong)
    // The end of the name was not read.
    #expect(error?.offset ?? 0 < 512)
  }

  @Test func `a member name at the limit is accepted, and an escape counts as one character`()
    throws
  {
    let limits = JSONLimits(nameBytes: 4, members: 1)
    let name = #""\u0061\u0062\u0063\u0064""#
    #expect(try JSONValue(parsing: Array("{\(name):1}".utf8), limits: limits) == ["abcd": 1])
    let error = #expect(throws: JSONParseError.self) {
      try JSONValue(parsing: Array("{\"abcde\":1}".utf8), limits: limits)
    }
    #expect(error?.reason == .nameTooLong)
  }

  @Test func `the number of members is limited per object`() throws {
    let limits = JSONLimits(members: 2)
    let within: JSONValue = ["a": ["b": 1, "c": 2], "d": ["e": 3, "f": 4]]
    #expect(try JSONValue(parsing: within.serialized(), limits: limits) == within)
    let error = #expect(throws: JSONParseError.self) {
      try JSONValue(parsing: Array(#"{"a":{"b":1,"c":2,"d":3}}"#.utf8), limits: limits)
    }
    #expect(error?.reason == .tooManyMembers)
  }

  @Test func `many members, and a number with many digits, are parsed`() throws {
    let members = (0..<400_000).map { "\"\($0)\":0" }.joined(separator: ",")
    #expect(try JSONValue(parsing: "{\(members)}").objectValue?.count == 400_000)
    let digits = String(repeating: "7", count: Self.bytes)
    #expect(throws: JSONParseError.self) { try JSONValue(parsing: digits) }
    #expect(try JSONValue(parsing: "0." + digits) == 0.7777777777777778)
  }

  @Test func `canonically equivalent texts with different bytes are different`() throws {
    let (composed, decomposed): (JSONValue, JSONValue) = ("\u{E9}", "e\u{301}")
    #expect(composed != decomposed)
    let both = try JSONValue(parsing: "{\"\u{E9}\":1,\"e\u{301}\":2}")
    #expect(both["\u{E9}"] == 1 && both["e\u{301}"] == 2)
  }
}
