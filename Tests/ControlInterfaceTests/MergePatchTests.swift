import ControlInterface
import JSON
import TestSupport
import Testing

@Suite struct MergePatchTests {
  /// The examples of RFC 7396, Appendix A.
  static let examples: [(String, String, String)] = [
    (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
    (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
    (#"{"a":"b"}"#, #"{"a":null}"#, "{}"), (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
    (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
    (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
    (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
    (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
    (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
    (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#), (#"{"a":"foo"}"#, "null", "null"),
    (#"{"a":"foo"}"#, #""bar""#, #""bar""#), (#"[1,2]"#, #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
    ("{}", #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
  ]

  @Test(arguments: examples)
  func `the examples of RFC 7396 are applied correctly`(
    target: String, patch: String, result: String
  ) throws {
    let applied = MergePatch.apply(
      try JSONValue(parsing: patch), to: try JSONValue(parsing: target))
    #expect(applied == (try JSONValue(parsing: result)))
  }

  @Test func `a merge patch made from two values contains only their differences`() throws {
    let old: JSONValue = ["same": [1, 2], "gone": 1, "deep": ["x": 1, "y": 2], "null": .null]
    let new: JSONValue = [
      "same": [1, 2], "deep": ["x": 1, "y": 3], "null": .null, "new": [.null],
    ]
    #expect(
      MergePatch.difference(from: old, to: new)
        == ["gone": .null, "deep": ["y": 3], "new": [.null]])
    #expect(MergePatch.difference(from: old, to: old) == [:])
    #expect(MergePatch.difference(from: ["a": [:]], to: ["a": ["b": .null]]) == [:])
    #expect(MergePatch.difference(from: ["a": 1], to: ["a": [:]]) == ["a": [:]])
  }

  @Test(.timeLimit(.minutes(1)), arguments: ["\u{1F1E6}", "\u{301}\u{316}", "\u{1100}\u{1161}"])
  func `a merge patch compares texts by bytes instead of Unicode equivalence`(unit: String) {
    let text = String(repeating: unit, count: (1 << 20) / unit.utf8.count)
    let old: JSONValue = ["text": .string(text + "a"), "same": .string(text)]
    let new: JSONValue = ["text": .string(text + "b"), "same": .string(text)]
    #expect(MergePatch.difference(from: old, to: new) == ["text": .string(text + "b")])
    #expect(MergePatch.difference(from: ["e": "\u{E9}"], to: ["e": "e\u{301}"]) != [:])
  }

  @Test(arguments: 1...20)
  func `a merge patch made from two values turns the old value into the new one`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<500 {
      let old = JSONValue.object(random.members(depth: 4))
      let new =
        random.next(below: 4) == 0
        ? .object(random.members(depth: 4)) : random.changed(old)
      let patch = MergePatch.difference(from: old, to: new)
      #expect(MergePatch.apply(patch, to: old) == MergePatch.normalized(new))
      // Clients receive the patch encoded and parsed, so the test applies it in this form.
      #expect(
        MergePatch.normalized(old) == MergePatch.normalized(new) ? patch == [:] : patch != [:])
    }
  }
}

/// Random JSON.
extension SplitMix64 {
  mutating func next(below bound: Int) -> Int { pick(0..<bound) }

  mutating func members(depth: Int) -> [JSONName: JSONValue] {
    var members: [JSONName: JSONValue] = [:]
    for _ in 0..<next(below: 5) {
      members["abcdef".map { JSONName(String($0)) }[next(below: 6)]] = value(depth)
    }
    return members
  }

  mutating func value(_ depth: Int) -> JSONValue {
    switch next(below: depth > 0 ? 8 : 5) {
    case 0: .null
    case 1: .bool(next(below: 2) == 0)
    case 2: .integer(Int64(next(below: 3)))
    case 3: .number(Double(next(below: 3)) / 2)
    case 4: .string(["", "x", "ü"][next(below: 3)])
    case 5: .array((0..<next(below: 3)).map { _ in value(depth - 1) })
    default: .object(members(depth: depth - 1))
    }
  }

  /// Returns the value with some of its members replaced, at any depth.
  mutating func changed(_ value: JSONValue) -> JSONValue {
    guard case .object(var members) = value else { return self.value(2) }
    for name in members.keys.sorted() {
      switch next(below: 6) {
      case 0: members[name] = nil
      case 1: members[name] = self.value(2)
      case 2: members[name] = changed(members[name] ?? .null)
      default: break
      }
    }
    return .object(members)
  }
}
