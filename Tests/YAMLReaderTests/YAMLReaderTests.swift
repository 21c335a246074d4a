import RateLimiting
import Testing
import YAMLReader

@Suite struct YAMLReaderTests {
  private func mapping(
    _ text: String, known: [String]? = nil
  ) throws(ConfigurationError) -> YAMLMapping {
    guard let node = try YAMLNode(parsing: text, file: "test.yaml") else {
      throw ConfigurationError(file: "test.yaml", message: "is empty")
    }
    return try YAMLMapping(node, known: known)
  }

  private func error(_ text: String, known: [String]? = nil) -> ConfigurationError? {
    do throws(ConfigurationError) {
      _ = try mapping(text, known: known)
      return nil
    } catch { return error }
  }

  @Test(arguments: ["", "\n", "# only a comment\n", "---\n", "~\n"])
  func `a YAML file without a value is read as empty`(text: String) throws {
    let isEmpty = try YAMLNode(parsing: text, file: "test.yaml").map { _ in false } ?? true
    #expect(isEmpty)
  }

  @Test(.timeLimit(.minutes(1)), arguments: ["b: *a39", "*a39 : b", "? [*a39]\n: b"])
  func `YAML aliases cannot expand to more than can be parsed`(use: String) {
    let levels = (1...39).map { "a\($0): &a\($0) [*a\($0 - 1), *a\($0 - 1)]" }
    let text = (["a0: &a0 [b, b]"] + levels + [use]).joined(separator: "\n")
    #expect(error(text)?.message.hasPrefix("has more than 16 aliases") == true)
  }

  @Test func `a few YAML aliases, and stars that are not aliases, are accepted`() throws {
    let stars = (1...99).map { "\n# * **b**\nk\($0): 2*3" }.joined()
    let keys = try mapping("a: &a 5s\nb: *a" + stars)
    #expect(try keys["b"]?.interval() == .seconds(5))
  }

  private static let marks = String(repeating: "\u{301}\u{316}", count: 500_000)
  private static let escapes = String(repeating: #"\u0301\U00000316"#, count: 100_000)

  // Comparing any of these takes minutes to hours.
  @Test(
    .timeLimit(.minutes(1)),
    arguments: [
      marks, "a: \(marks)", "\(marks): a", "? \"a\(marks)\"\n: b\n? \"a\(marks)c\"\n: d",
      "? \"\(escapes)\"\n: b", "? \"\(escapes)c\"\n: b\n? \"\(escapes)d\"\n: b",
      "a: \"" + String(repeating: "\u{301}\\\n  \u{316}\\\u{2028}\n ", count: 100_000) + "\"",
    ])
  func `a YAML file with too many combining marks on a character is rejected`(text: String) {
    #expect(error(text)?.message.hasPrefix("has more combining marks in a row") == true)
  }

  @Test func `texts with combining marks are accepted in YAML`() throws {
    let texts = [
      "a\(String(repeating: "\u{301}", count: 30))b\(String(repeating: "\u{316}", count: 30))",
      "שָׁלוֹם עֲלֵיכֶם", "สวัสดีที่นี่", "क्ष्म्य", "tiếng Việt", "e\u{301}",
    ]
    for text in texts {
      #expect(try mapping("a: \(text)")["a"]?.scalar?.utf8.elementsEqual(text.utf8) == true)
    }
    let escaped = try mapping(#"a: "\#(String(repeating: #"e\u0301"#, count: 99))""#)
    #expect(escaped["a"]?.scalar?.unicodeScalars.count == 198)
    let paths = try mapping("a: C:\\users\\Ulla\\u\nb: 1s")
    #expect(try paths["b"]?.interval() == .seconds(1))
  }

  // MARK: Durations

  @Test(
    arguments: [
      ("500ms", 500_000_000), ("0.5s", 500_000_000), ("0.1s", 100_000_000), ("140us", 140_000),
      ("0.741ms", 741_000), ("90s", 90_000_000_000), ("10m", 600_000_000_000),
      ("1h", 3_600_000_000_000), ("0.000000001s", 1), ("7ns", 7), ("0s", 0),
    ] as [(String, Int64)])
  func `a duration is parsed exactly`(text: String, nanoseconds: Int64) throws {
    let value = try #require(try mapping("a: \(text)")["a"])
    #expect(try value.interval() == .nanoseconds(nanoseconds))
  }

  @Test(
    arguments: [
      "5", "s", ".5s", "5.s", "1.5.5s", "-1s", "+1s", "5 s", "five", "1e3s", "0.0000000001s",
      "[5s]", "{a: 5s}", "9999999999h",
    ])
  func `text that is not a duration is rejected`(text: String) throws {
    let value = try #require(try mapping("a: \(text)")["a"])
    let error = #expect(throws: ConfigurationError.self) { try value.interval() }
    #expect(error?.description.hasPrefix("test.yaml:1: a: expected a time such as 250ms") == true)
  }

  @Test func `a duration over 100 days is rejected, and so is zero where it is not allowed`()
    throws
  {
    let keys = try mapping("{long: 2401h, zero: 0ms}")
    #expect(throws: ConfigurationError.self) { try keys["long"]?.interval() }
    #expect(try keys["zero"]?.interval() == .zero)
    #expect(throws: ConfigurationError.self) { try keys["zero"]?.interval(positive: true) }
  }

  // MARK: Values

  @Test func `scalars are parsed according to YAML`() throws {
    let keys = try mapping("{a: 1_000, b: 0x10, c: yes, d: 'off', e: [1, 2], f: alone}")
    #expect(try keys["a"]?.integer(in: 0...2_000) == 1_000)
    #expect(try keys["b"]?.integer(in: 0...20) == 16)
    #expect(try keys["c"]?.boolean() == true)
    #expect(throws: ConfigurationError.self) { try keys["d"]?.boolean() }
    #expect(try keys["e"]?.list().map(\.key) == ["e[0]", "e[1]"])
    #expect(try keys["f"]?.list(orOne: true).map { try $0.text() } == ["alone"])
    #expect(throws: ConfigurationError.self) { try keys["f"]?.list() }
  }

  @Test(
    arguments: [
      ("a: 21", "expected a whole number from 1 to 20, not '21'"),
      ("a: many", "expected a whole number from 1 to 20, not 'many'"),
      ("a: [1]", "expected a whole number from 1 to 20"),
      ("a:", "expected a whole number from 1 to 20"),
    ])
  func `a number out of range is rejected with the range`(text: String, message: String) throws {
    let value = try #require(try mapping(text)["a"])
    let error = #expect(throws: ConfigurationError.self) { try value.integer(in: 1...20) }
    #expect(error?.message == message)
  }

  // MARK: Positions

  @Test(
    arguments: [
      ("b: 1", 1, "b", "unknown key; did you mean 'a'?"),
      ("\n\nb:\n  c: 1", 3, "b", "unknown key; did you mean 'a'?"),
      ("a: 1\na: 2", 2, "a", "is a duplicate key; remove one"),
      ("a:\n  # wide\n  c:\n    d: 1\n\n    d: 2\n", 6, "a.c.d", "is a duplicate key; remove one"),
      ("a: {c: 1, c: 2}", 1, "a.c", "is a duplicate key; remove one"),
      ("a:\n  - c: 1\n    d: 2\n    c: 3\n", 4, "c", "is a duplicate key; remove one"),
    ] as [(String, Int, String, String)])
  func `an invalid key is reported with its line`(
    text: String, line: Int, key: String, message: String
  ) {
    let error = error(text, known: ["a"])
    #expect(error?.line == line)
    #expect(error?.key == key)
    #expect(error?.message == message)
  }

  @Test(
    arguments: [
      ("a: {b: 5", 1), ("a:\n\tb: 5", 2), ("a:\n  b: \"info", 2), ("a:\n    b: 5\n  c: []", 3),
    ])
  func `a syntax error in YAML is reported at the position where it begins`(text: String, line: Int)
  {
    let error = error(text)
    #expect(error?.line == line)
    #expect(error?.message.hasPrefix("is not valid YAML: ") == true)
    #expect(error?.message.hasSuffix("check the quotes, brackets and indentation there") == true)
  }

  @Test func `an error in the value of a command-line option names the option`() {
    let value = YAMLNode("many", option: "--set", key: "seed")
    let error = #expect(throws: ConfigurationError.self) { try value.integer(in: 0...Int.max) }
    #expect(
      error?.description == "--set: seed: expected a whole number of 0 or more, not 'many'")
    #expect(error?.isUsage == true)
  }
}
