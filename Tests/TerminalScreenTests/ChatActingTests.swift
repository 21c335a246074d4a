import ControlInterface
import ControlTestSupport
import JSON
import TerminalScreen
import TerminalTestSupport
import Testing

/// Acts that need a text, ask a question, or apply to some rows of a list only.
@Suite struct ChatActingTests {
  private static func act(
    _ label: String, _ parameters: JSONValue, _ input: ScreenInput? = nil,
    _ parameter: String? = nil, text: String? = nil, confirms: Bool? = nil,
    groups: [String]? = nil
  ) -> ScreenAct {
    ScreenAct(
      label: label, method: "Act", parameters: parameters, input: input, parameter: parameter,
      text: text, confirms: confirms, groups: groups)
  }

  /// A chat with a person's card, and with messages from two platforms.
  private static func screen(card name: String = "Eve") -> ScreenReport {
    var heading = ScreenNode.row(.text("person:", .strong), .text(name, .person))
    heading.acts = [
      act("time out", ["kind": "timeOut", "user": ["id": "u9", "name": "Eve"]]),
      act("ban", ["kind": "ban", "user": ["id": "u9", "name": "Eve"]], confirms: true),
    ]
    var list = ScreenNode.messages(0..<3) { "text \($0)" }
    for (index, group) in ["twitch", "kick", nil].enumerated() {
      list.parts?[index].group = group
    }
    list.acts = [
      ScreenAct(
        label: "thread", method: "ShowThread", parameters: [:], input: .numberedRow,
        parameter: "number"),
      act("reply", ["kind": "reply"], .numberedRow, "number", text: "text", groups: ["twitch"]),
      act(
        "delete", ["kind": "delete"], .numberedRow, "number", confirms: true,
        groups: ["twitch", "kick"]),
    ]
    return ScreenReport(
      root: 1,
      views: [
        "1": ScreenView(
          name: "HostView", output: .column(.panel("chat", "Chat", priority: 1, heading, list)))
      ], room: "main", counters: Counters(received: 10, applied: 10))
  }

  private final class Screen {
    var model = HostScreenModel(rooms: ["main"])
    let rows: Int

    init(_ screen: ScreenReport = ChatActingTests.screen(), rows: Int = 30) {
      self.rows = rows
      model.resize(columns: 100, rows: rows)
      model.apply(.screen(room: "main", screen, at: 0))
    }

    func press(_ keys: Key...) { for key in keys { _ = model.press(key) } }
    func type(_ text: String) { for character in text { press(.character(character)) } }

    var lines: [String] {
      let picture = model.picture(columns: 100, rows: rows)
      return (0..<picture.rows).map { picture.text(row: $0) }
    }
    var foot: String { lines.last ?? "" }

    var calls: [[JSONName: JSONValue]] {
      model.removeRequests().compactMap { request in
        if case .call(let call) = request { call.parameters } else { nil }
      }
    }
  }

  @Test func `an act on a row that needs a text asks for it and sends both`() {
    let screen = Screen()
    screen.press(.up, .up, .up)
    #expect(screen.foot.contains("t thread  r reply  d delete"))
    screen.press(.character("r"))
    screen.type("hello")
    #expect(screen.foot.contains("reply: hello"))
    #expect(screen.calls.isEmpty)
    screen.press(.enter)
    #expect(
      screen.calls == [["room": "main", "kind": "reply", "number": 0, "text": "hello"]])
    screen.press(.character("r"), .character("x"), .escape)
    #expect(screen.calls.isEmpty && screen.foot.contains("r reply"))
  }

  @Test func `an act is offered only by the rows of its groups`() {
    let screen = Screen()
    screen.press(.up)
    #expect(screen.foot.contains("t thread") && !screen.foot.contains("delete"))
    screen.press(.character("d"), .character("r"))
    #expect(screen.calls.isEmpty)
    screen.press(.up)
    #expect(screen.foot.contains("t thread  d delete") && !screen.foot.contains("reply"))
  }

  @Test func `an act that cannot be undone asks first, and only the key y confirms it`() {
    let screen = Screen()
    screen.press(.up, .up, .character("d"))
    #expect(screen.foot.hasPrefix("delete 名前: text 1? y/n"))
    screen.press(.enter, .up, .character("d"), .click(row: 1, column: 1))
    #expect(screen.calls.isEmpty && screen.foot.contains("y/n"))
    screen.press(.character("y"))
    #expect(screen.calls == [["room": "main", "kind": "delete", "number": 1]])
    #expect(!screen.foot.contains("y/n"))
    for key in [Key.character("n"), .escape] {
      screen.press(.character("d"), key)
      #expect(screen.calls.isEmpty && !screen.foot.contains("y/n"))
      #expect(screen.foot.contains("t thread  d delete"), "The row must stay selected.")
    }
  }

  @Test func `a question about a person's card names the person`() {
    let screen = Screen()
    screen.press(.down, .character("b"))
    #expect(screen.foot.hasPrefix("ban Eve? y/n"))
    screen.press(.character("y"))
    #expect(
      screen.calls == [["room": "main", "kind": "ban", "user": ["id": "u9", "name": "Eve"]]])
    screen.press(.character("t"))
    #expect(
      screen.calls == [["room": "main", "kind": "timeOut", "user": ["id": "u9", "name": "Eve"]]])
  }

  @Test func `a hostile name neither controls the terminal nor hides the question`() {
    let name = "Eve\u{1B}[2J\u{202E}" + String(repeating: "x", count: 300)
    let screen = Screen(Self.screen(card: name))
    screen.press(.down, .character("b"))
    #expect(screen.foot.hasPrefix("ban Eve\u{FFFD}[2J") && screen.foot.contains("…? y/n"))
    #expect(!screen.foot.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{202E}" })
  }

  @Test func `a click on the label of an act performs it`() throws {
    let screen = Screen()
    screen.press(.up, .up, .up)
    func column(of label: String) throws -> Int {
      let start = try #require(screen.foot.firstRange(of: label)).lowerBound
      return screen.foot[..<start].count
    }
    screen.press(.click(row: 29, column: try column(of: "thread")))
    #expect(screen.calls == [["room": "main", "number": 0]])
    screen.press(.click(row: 29, column: try column(of: "delete") + 5))
    #expect(screen.foot.contains("y/n"))
    screen.press(.escape)
    screen.press(.click(row: 29, column: try column(of: "help")))
    screen.press(.click(row: 29, column: 99), .click(row: 30, column: 0))
    #expect(screen.calls.isEmpty)
  }

  @Test func `the help lists the keys of the selected item's acts`() {
    let screen = Screen()
    screen.press(.character("?"))
    #expect(!screen.lines.contains { $0.hasPrefix("d ") })
    screen.press(.character("x"), .up, .up, .up, .character("?"))
    let lines = screen.lines
    #expect(lines.contains { $0.hasPrefix("r ") && $0.hasSuffix("reply") })
    #expect(lines.contains { $0.hasPrefix("d ") && $0.contains("delete, after a question") })
  }
}
