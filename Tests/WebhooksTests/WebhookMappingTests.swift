import Foundation
import JSON
import TestSupport
import Testing
import Webhooks
import YAMLReader

/// Tests the translation of deliveries by mappings, and the error messages of mappings.
struct WebhookMappingTests {
  private static func lines(
    _ table: String, _ body: String, headers: [String: String] = [:]
  ) throws -> [String] {
    let mapping = try WebhookMapping(table, file: "m.yaml")
    let delivery = WebhookDelivery(body: try JSONValue(parsing: body), headers: headers)
    return try mapping.map(delivery, check: NativeLineCheck()).lines
      .map { String(decoding: $0, as: UTF8.self) }
  }

  private static let chat = """
    identifier: header:X-Id
    time: at
    events:
      - when: {kind: [chat, 7], visible: true}
        type: chat.message
        members:
          room: channel
          user.id: who[0].id
          user.name: who[0].name | who[0].id
          user.badges: who[0].badges
          text: html:words
    """

  @Test(arguments: [
    (#"{"of":"7","who":[{"id":"6","name":"Bo"},{"id":7,"name":"Ada"}]}"#, "Ada"),
    (#"{"of":"8","who":[{"id":"6","name":"Bo"}]}"#, "none"),
    (#"{"who":[{"id":null,"name":"Bo"}]}"#, "none"), (#"{"of":"7","who":{"id":"7"}}"#, "none"),
  ])
  func `a path can select the element of a list whose member equals another value`(
    body: String, name: String
  ) throws {
    let table = """
      events:
        - type: title
          members: {title: "who[id=of].name | =none"}
      """
    #expect(try Self.lines(table, body) == [#"{"type":"title","title":"\#(name)"}"#])
  }

  @Test(arguments: ["who[=of].name", "who[id=].name", "who[id=of.name", "who[x].name"])
  func `a path with an invalid selector is an error of the webhook mapping`(path: String) {
    #expect(throws: ConfigurationError.self) {
      try WebhookMapping(
        "events: [{type: title, members: {title: \"\(path)\"}}]", file: "m.yaml")
    }
  }

  @Test func `a mapping turns a delivery into an event`() throws {
    let lines = try Self.lines(
      Self.chat,
      #"{"kind":"chat","visible":true,"at":"2026-11-24T20:00:00Z","channel":"Ada","words":"a <b>b</b>","who":[{"id":7,"badges":["vip"]}]}"#,
      headers: ["x-id": "e1"])
    #expect(
      lines == [
        #"{"type":"chat.message","ts":1795550400000,"id":"e1","room":"ada","text":"a b","user":{"id":"7","name":"7","badges":["vip"]}}"#
      ])
  }

  @Test(arguments: [
    (#"{"kind":"other","visible":true}"#, 0), (#"{"kind":7,"visible":false}"#, 0),
    (#"{"visible":true}"#, 0), (#"[]"#, 0), (#"7"#, 0), (#"{"kind":{},"visible":true}"#, 0),
    (#"{"kind":7,"visible":"true","who":[{"id":"a"}],"words":""}"#, 1),
  ])
  func `a rule of a mapping applies only to deliveries that meet its conditions`(
    body: String, count: Int
  ) throws {
    #expect(try Self.lines(Self.chat, body, headers: ["x-id": "1"]).count == count)
  }

  @Test func `several rules and lists produce several events, each with its own identifier`()
    throws
  {
    let table = """
      identifier: id
      events:
        - {type: viewers, members: {count: now}}
        - each: gifts
          type: chat.notice
          members: {kind: =gift, user.id: each.from, count: =1}
      """
    #expect(
      try Self.lines(table, #"{"id":"d","now":"12","gifts":[{"from":"a"},{"from":"b"}]}"#) == [
        #"{"type":"viewers","count":12}"#,
        #"{"type":"chat.notice","id":"d/1","kind":"gift","count":1,"user":{"id":"a","name":"a"}}"#,
        #"{"type":"chat.notice","id":"d/2","kind":"gift","count":1,"user":{"id":"b","name":"b"}}"#,
      ])
  }

  @Test(arguments: [
    ("{type: chat.modes, members: {emoteOnly: a}}", #"{"a":"yes"}"#, #""emoteOnly":true"#),
    (
      "{type: waiting.schedule, members: {startsAt: a}}", #"{"a":1795550400}"#,
      #""startsAt":1795550400000"#
    ),
    (
      "{type: waiting.schedule, members: {startsAt: a}}", #"{"a":1795550400000}"#,
      #""startsAt":1795550400000"#
    ),
    ("{type: meter, members: {input: =mic, levels: a}}", #"{"a":[0,0.5]}"#, #""levels":[0.0,0.5]"#),
    ("{type: stats, members: {bitrateKbps: a}}", #"{"a":"1500.5"}"#, #""bitrateKbps":1500.5"#),
    ("{type: title, members: {title: a | =none}}", #"{"b":1}"#, #""title":"none""#),
    ("{type: title, members: {title: a | =none | b}}", #"{"a":null}"#, #""title":"none | b""#),
  ])
  func `mapped values are converted to the types of their event members`(
    rule: String, body: String, part: String
  )
    throws
  {
    let lines = try Self.lines("events: [\(rule)]", body)
    #expect(lines.count == 1 && lines[0].contains(part), "\(lines)")
  }

  @Test(arguments: [
    (
      "{type: viewers, members: {count: a}}", #"{"a":"many"}"#,
      "m.yaml:1: 'count' of viewers must be a number"
    ),
    (
      "{type: viewers, members: {count: a}}", #"{}"#,
      "m.yaml:1: a member that the type requires is absent: 'count' of viewers"
    ),
    (
      "{type: viewers, members: {count: a}}", #"{"a":-1}"#,
      "m.yaml:1: a member has the wrong type or is out of range: 'count' of viewers"
    ),
    (
      "{type: title, members: {title: a}}", #"{"a":[1]}"#,
      "m.yaml:1: 'title' of title must be text"
    ),
  ])
  func `the error for a delivery that does not fit names the rule and the member`(
    rule: String, body: String, fault: String
  ) throws {
    do {
      _ = try Self.lines("events: [\(rule)]", body)
      Issue.record("accepted: \(body)")
    } catch let error as WebhookFault {
      #expect(error.text == fault)
    }
  }

  /// Comparing or hashing this string as text takes minutes.
  private static let marks =
    String(repeating: "\u{301}", count: 300_000)
    + String(repeating: "\u{316}", count: 300_000)

  @Test(.timeLimit(.minutes(1)), arguments: ["kind", "visible", "channel", "words", "at", "who"])
  func `mapped values that are slow to compare as text are compared as bytes`(member: String) throws
  {
    let others = ["kind": "\"chat\"", "visible": "true", "channel": "\"a\"", "words": "\"b\""]
      .filter { $0.key != member }.map { "\"\($0)\":\($1)" }.sorted()
    let value = member == "who" ? #"[{"id":"\#(Self.marks)"}]"# : "\"\(Self.marks)\""
    let body = "{\((others + ["\"\(member)\":\(value)"]).joined(separator: ","))}"
    _ = try? Self.lines(Self.chat, body, headers: ["x-id": Self.marks])
  }

  @Test(.timeLimit(.minutes(1)))
  func `names of form fields are compared as bytes`() {
    let form = Array("\(Self.marks)=1&\(Self.marks)=2&a=3".utf8)
    let value = WebhookGate.value(of: form, type: "application/x-www-form-urlencoded")
    #expect(value?["a"] == "3")
    #expect(value?.objectValue?.count == 2)
  }

  @Test func `a delivery produces at most 256 events`() throws {
    let table = "events: [{each: a, type: viewers, members: {count: each}}]"
    func body(_ count: Int) -> String {
      "{\"a\":[\(Array(repeating: "1", count: count).joined(separator: ","))]}"
    }
    #expect(try Self.lines(table, body(256)).count == 256)
    #expect(throws: WebhookFault.self) { try Self.lines(table, body(257)) }
  }

  @Test(arguments: [
    ("", "m.yaml: is empty; write events: [{type: viewers, members: {count: data.viewers}}]"),
    ("event: []", "m.yaml:1: event: unknown key; did you mean 'events'?"),
    ("time: a\n", "m.yaml:1: needs 'events'"),
    (
      "events: []",
      "m.yaml:1: events: is empty; add a rule such as events: [{type: viewers, members: {count: data.viewers}}]"
    ),
    (
      "events:\n  - type: view\n",
      "m.yaml:2: events[0].type: unknown event type 'view'; did you mean 'viewers'?"
    ),
    (
      "events:\n  - type: source.state\n",
      "m.yaml:2: events[0].type: unknown event type 'source.state'; did you mean 'control.state'?"
    ),
    ("events:\n  - members: {count: a}\n", "m.yaml:2: events[0]: needs 'type'"),
    (
      "events:\n  - type: viewers\n    members:\n      counts: a\n",
      "m.yaml:4: events[0].members.counts: no event has this member; did you mean 'count'?"
    ),
    (
      "events:\n  - type: viewers\n",
      "m.yaml:2: events[0]: a member that the type requires is absent: 'count' of viewers; add it to 'members'"
    ),
    (
      "events:\n  - type: stream\n    members: {state: =on}\n",
      "m.yaml:2: events[0]: a member has the wrong type or is out of range: 'state' of stream; write another text after the '='"
    ),
    (
      "events:\n  - type: viewers\n    members: {count: =many}\n",
      "m.yaml:2: events[0]: m.yaml:2: 'count' of viewers must be a number"
    ),
    (
      "events:\n  - type: title\n    members: {title: each.a}\n",
      "m.yaml:3: events[0].members.title: a member can use 'each' only if the rule has an 'each' list"
    ),
    (
      "identifier: each.id\nevents: [{type: chat.clear}]",
      "m.yaml:1: identifier: 'each' exists only in rules; write the whole path"
    ),
    (
      "identifier: header:Authorization\nevents: [{type: chat.clear}]",
      "m.yaml:1: identifier: the header 'authorization' is a secret and may not become part of an event"
    ),
  ])
  func `an error in a mapping names the file, the line and the remedy`(
    table: String, message: String
  ) {
    do {
      _ = try WebhookMapping(table, file: "m.yaml")
      Issue.record("accepted: \(table)")
    } catch {
      #expect("\(error)" == message)
    }
  }

  @Test(arguments: [
    "a..b", ".a", "a.", "a[", "a[x]", "a[-1]", "a b", "", "header:", "a[1]b", "a:b", "x | ", "{a",
    "a}",
    "{a {b}}", "{a b}", "{} x",
  ])
  func `an invalid path in a mapping is rejected`(path: String) {
    #expect(throws: ConfigurationError.self) {
      try WebhookMapping("events: [{type: title, members: {title: '\(path)'}}]", file: "m.yaml")
    }
  }

  @Test func `the webhook mapping in the manual page is valid`() throws {
    let file = "packaging/man/livehost-source.8.in"
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<3 { root.deleteLastPathComponent() }
    let text = try String(contentsOf: root.appendingPathComponent(file), encoding: .utf8)
    let table = text.split(separator: "\n", omittingEmptySubsequences: false)
      .drop { !$0.drop { $0 == " " }.hasPrefix("identifier: ") }
      .prefix { !$0.isEmpty && $0 != ".EE" }
      .joined(separator: "\n").replacing("\\-", with: "-")
    #expect(table.contains("events:"))
    _ = try WebhookMapping(table, file: file)
  }

  // MARK: Missing and unusable values

  @Test(arguments: [
    (
      "{type: announcement, members: {text: message | =a tip}}", #"{"message":""}"#,
      #""text":"a tip""#
    ),
    (
      "{type: announcement, members: {text: message | =a tip}}", #"{"message":"  "}"#,
      #""text":"a tip""#
    ),
    (
      "{type: announcement, members: {text: message | =a tip}}", #"{"message":[1]}"#,
      #""text":"a tip""#
    ),
    ("{type: announcement, members: {text: message}}", #"{"message":null}"#, #""text":"""#),
    (
      "{type: announcement, members: {user.id: id, user.name: name, text: =t}}",
      #"{"id":"","name":"Ada"}"#, #""user":{"id":"Ada","name":"Ada"}"#
    ),
    (
      "{type: announcement, members: {user.id: id, user.name: name, text: =t}}",
      #"{"id":7,"name":""}"#, #""user":{"id":"7","name":"7"}"#
    ),
    (
      "{type: announcement, members: {user.name: name, text: =t}}", #"{"name":{}}"#,
      #""user":{"name":"Someone","id":"Someone"}"#
    ),
    (
      "{type: title, members: {title: =x, room: a}}", #"{"a":"../x"}"#,
      #"{"type":"title","title":"x"}"#
    ),
    (
      "{type: chat.notice, members: {kind: =cheer, user.id: =u, count: n | =1}}", #"{"n":-5}"#,
      #""count":1"#
    ),
    (
      "{type: chat.notice, members: {kind: =cheer, user.id: =u, count: n | =1}}", #"{"n":1e308}"#,
      #""count":1"#
    ),
    (
      "{type: chat.message, members: {id: =i, user.id: =u, text: =t, bits: n}}", #"{"n":-5}"#,
      #""text":"t""#
    ),
    (
      "{type: announcement, members: {text: '{a} {b}: {c} | {a} {b} | =none'}}",
      #"{"a":5,"b":"EUR","c":"x"}"#, #""text":"5 EUR: x""#
    ),
    (
      "{type: announcement, members: {text: '{a} {b}: {c} | {a} {b} | =none'}}",
      #"{"a":5,"b":"EUR","c":""}"#, #""text":"5 EUR""#
    ),
    (
      "{type: announcement, members: {text: '{a} {b}: {c} | {a} {b} | =none'}}", #"{"a":5}"#,
      #""text":"none""#
    ),
    (
      "{type: announcement, members: {text: '{items[].name}'}}",
      #"{"items":[{"name":"a"},{},{"name":"b"}]}"#, #""text":"a, b""#
    ),
    (
      "{type: poll.begin, members: {id: =p, title: =t, options: 'items[].name'}}",
      #"{"items":[{"name":"a"},{"name":"b"}]}"#, #""options":["a","b"]"#
    ),
    (
      "{type: announcement, members: {text: 'data.items[1].name'}}",
      #"{"data":"{\"items\":[{},{\"name\":\"x\"}]}"}"#, #""text":"x""#
    ),
    (
      "{each: data.items, type: announcement, members: {text: each.name}}",
      #"{"data":{"items":{"name":"one"}}}"#, #""text":"one""#
    ),
  ])
  func `an empty or unusable value in a delivery does not lose the event`(
    rule: String, body: String, part: String
  ) throws {
    let lines = try Self.lines("events: [\(rule)]", body)
    #expect(lines.count == 1 && lines[0].contains(part), "\(lines)")
  }

  @Test(arguments: [
    (#"a: "!b""#, #"{"a":"b"}"#, 0), (#"a: "!b""#, #"{"a":"c"}"#, 1), (#"a: "!b""#, "{}", 1),
    (#"a: "!""#, "{}", 0), (#"a: "!""#, #"{"a":""}"#, 0), (#"a: "!""#, #"{"a":0}"#, 1),
    (#"a: """#, "{}", 1), (#"a: """#, #"{"a":null}"#, 1), (#"a: """#, #"{"a":{}}"#, 0),
    (#"a: [b, "!c"]"#, #"{"a":"b"}"#, 1), (#"a: [b, "!c"]"#, #"{"a":"d"}"#, 0),
    (#""a | b": c"#, #"{"b":"c"}"#, 1),
  ])
  func `conditions of a rule can exclude values and can require that a member is absent`(
    condition: String, body: String, count: Int
  ) throws {
    #expect(
      try Self.lines("events: [{when: {\(condition)}, type: chat.clear}]", body).count == count)
  }

  @Test func `a chat message that has neither a person nor a text is refused`() {
    let error = #expect(throws: WebhookFault.self) {
      try Self.lines(
        "events: [{type: chat.message, members: {id: =i, user.name: who, text: words}}]", "{}")
    }
    #expect(error?.text.contains("a member that the type requires is absent") == true)
  }

  @Test func `a mapping must not copy the secret into an event`() {
    for path in ["data.token", "data", "'{data.token}'"] {
      let error = #expect(throws: ConfigurationError.self) {
        try WebhookMapping(
          "secret: data.token\nevents: [{type: title, members: {title: \(path)}}]", file: "m.yaml")
      }
      #expect(error?.message == "the value at 'secret' may not become part of an event")
    }
  }

  @Test func `event members for which a delivery has unusable values are reported by name`() throws
  {
    let mapping = try WebhookMapping(
      "time: at\nevents: [{type: announcement, members: {user.name: a, text: b | =t}}]",
      file: "m.yaml")
    let body: JSONValue = ["at": "soon", "a": [1], "b": ["c": 1]]
    let mapped = try mapping.map(WebhookDelivery(body: body), check: NativeLineCheck())
    #expect(mapped.lines.count == 1)
    #expect(mapped.unusable == ["time", "text", "user.name"])
  }

  // MARK: Owncast

  private static func owncast(_ body: String) throws -> [String] {
    let delivery = WebhookDelivery(body: try JSONValue(parsing: body))
    return try WebhookMapping.owncast().map(delivery, check: NativeLineCheck()).lines
      .map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(arguments: [
    (
      #"{"type":"CHAT","eventData":{"id":"m1","timestamp":"2026-11-24T20:00:00.5Z","user":{"id":"u1","displayName":"Ada","isBot":false,"scopes":["MODERATOR"]},"clientId":5,"body":"hi <img class=\"emoji\" alt=\":beer:\" src=\"x\">","rawBody":"hi :beer:","visible":true}}"#,
      [
        #"{"type":"chat.message","ts":1795550400500,"id":"m1","text":"hi :beer:","user":{"id":"u1","name":"Ada","badges":["MODERATOR"]}}"#
      ]
    ),
    (
      #"{"type":"VISIBILITY-UPDATE","eventData":{"id":"v","ids":["m1","m2"],"visible":false,"user":null}}"#,
      [#"{"type":"chat.delete","id":"m1"}"#, #"{"type":"chat.delete","id":"m2"}"#]
    ),
    (#"{"type":"VISIBILITY-UPDATE","eventData":{"id":"v","ids":["m1"],"visible":true}}"#, []),
    (
      #"{"type":"STREAM_STARTED","eventData":{"id":"s","name":"mine","streamTitle":"My stream"}}"#,
      [#"{"type":"stream","state":"live"}"#, #"{"type":"title","title":"My stream"}"#]
    ),
    (#"{"type":"STREAM_STOPPED","eventData":{"id":"s"}}"#, [#"{"type":"stream","state":"ended"}"#]),
    (
      #"{"type":"STREAM_TITLE_UPDATED","eventData":{"id":"s","streamTitle":"Next"}}"#,
      [#"{"type":"title","title":"Next"}"#]
    ),
    (#"{"type":"USER_JOINED","eventData":{"id":"j"}}"#, []),
    (
      #"{"type":"FEDIVERSE_ENGAGEMENT_FOLLOW","eventData":{"id":"f","name":"Bo","username":"bo@x.example"}}"#,
      [#"{"type":"follow","id":"f","user":{"id":"bo@x.example","name":"Bo"}}"#]
    ),
  ])
  func `Owncast's webhooks are translated`(body: String, lines: [String]) throws {
    #expect(try Self.owncast(body) == lines)
  }

  // MARK: Hostile input

  @Test func `100,000 seeded deliveries and mappings are processed without crashing`() throws {
    var generator = SplitMix64(seed: 19)
    let mapping = try WebhookMapping(
      """
      identifier: id | header:x
      time: at
      events:
        - when: {a: [x, 1]}
          type: chat.message
          members: {id: 'b[0].c | a', user.id: c, user.name: html:b, text: b.d | =t, user.badges: b, bits: c}
        - {each: b, type: follow, members: {user.id: each.c | each}}
        - {when: {c: true}, type: poll.begin, members: {id: a, title: c, options: b, endsAt: c}}
      """, file: "m.yaml")
    let check = NativeLineCheck()
    func value(_ depth: Int) -> JSONValue {
      switch Int.random(in: (depth == 0 ? 7 : 0)...(depth > 2 ? 5 : 8), using: &generator) {
      case 0: return .null
      case 1: return .bool(.random(using: &generator))
      case 2: return .integer([0, 1, -1, .max, .min].randomElement(using: &generator) ?? 0)
      case 3: return .number([0.5, -1e300, 1e11, 9e15].randomElement(using: &generator) ?? 0)
      case 4:
        return .string(String(repeating: "é", count: Int.random(in: 0...300, using: &generator)))
      case 5:
        return .string(
          ["x", "1", "<a", "2026-11-24T20:00:00Z", "\u{0}"].randomElement(using: &generator) ?? "")
      case 6:
        return .array((0..<Int.random(in: 0...3, using: &generator)).map { _ in value(depth + 1) })
      default:
        var members: [JSONName: JSONValue] = [:]
        for name in ["a", "b", "c", "d", "id", "at"] where Bool.random(using: &generator) {
          members[JSONName(name)] = value(depth + 1)
        }
        return .object(members)
      }
    }
    var taken = 0
    for _ in 0..<100_000 {
      let delivery = WebhookDelivery(body: value(0), headers: ["x": "h"])
      if let lines = try? mapping.map(delivery, check: check).lines { taken += lines.count }
    }
    #expect(taken > 1_000)
    let pieces = [
      "events:", "\n  - ", "type: ", "viewers", "members: ", "{", "}", "count: ", "a[", "]", "=",
      "|", "each",
      "when: ", "header:", "html:", "&x ", "*x", "\"", "identifier: ", "title",
    ]
    for _ in 0..<20_000 {
      let text = (0..<Int.random(in: 0...14, using: &generator))
        .map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
      _ = try? WebhookMapping(text, file: "m.yaml")
    }
  }
}
