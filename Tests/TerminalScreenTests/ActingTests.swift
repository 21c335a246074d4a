import ControlInterface
import ControlTestSupport
import JSON
import LiveEvents
import TerminalScreen
import TerminalTestSupport
import Testing

/// A screen with every kind of row and control on which users can act.
private func screen(camera: Bool = false, waiting: [String] = ["ann", "bob"]) -> ScreenReport {
  func act(
    _ label: String, _ method: String, _ parameters: JSONValue = [:], _ input: ScreenInput? = nil,
    _ parameter: String? = nil
  ) -> ScreenAct {
    ScreenAct(
      label: label, method: method, parameters: parameters, input: input, parameter: parameter)
  }
  func acting(_ node: ScreenNode, _ acts: ScreenAct...) -> ScreenNode {
    var node = node
    node.acts = acts
    return node
  }
  let people = ScreenNode(
    kind: .list,
    parts: waiting.map { name in
      var row = ScreenNode.row(.text(name, .person))
      row.id = name
      return row
    })
  let root = ScreenNode.column(
    acting(
      ScreenNode(kind: .badge, text: "LIVE", emphasis: .active),
      act("end the stream", "SetControl", ["control": "stream"])),
    .panel(
      "waitingRoom", "Waiting room", priority: 1,
      acting(.text("2 waiting"), act("let all in", "Admit", ["all": true])),
      acting(people, act("let in", "Admit", [:], .row, "user"))),
    .panel(
      "chat", "Chat", priority: 2,
      acting(
        .text("notice 5: raid"), act("pin", "HandleNotice", ["notice": 5, "handling": "pin"]),
        act("dismiss", "HandleNotice", ["notice": 5, "handling": "dismiss"])),
      acting(.messages(0..<60), act("thread", "ShowThread", [:], .numberedRow, "number"))),
    .panel(
      "control", "Controls", priority: 3,
      acting(
        .gauge("volume", 0.5, "50%"),
        act("set", "SetControl", ["control": "volume"], .level, "value")),
      acting(
        .text("camera \(camera ? "on" : "off")"),
        act(
          camera ? "turn off" : "turn on", "SetControl",
          ["control": "camera", "on": .bool(!camera)]))),
    .panel("recorder", "Recorder", priority: 4, acting(.column(), act("record", "StartRecording"))))
  return ScreenReport(
    root: 1, views: ["1": ScreenView(name: "HostView", output: root)], room: "main",
    counters: Counters(received: 10, applied: 10))
}

@Suite struct ActingTests {
  private final class Screen {
    var model = HostScreenModel(rooms: ["main"], hasList: true)

    init() { model.apply(.screen(room: "main", screen(), at: 0)) }

    func press(_ keys: Key...) { for key in keys { press(key) } }
    func type(_ text: String) { for character in text { press(.character(character)) } }

    private func press(_ key: Key) {
      let stays = model.press(key)
      #expect(stays)
    }

    var lines: [String] {
      let picture = model.picture(columns: 100, rows: 30)
      return (0..<picture.rows).map { picture.text(row: $0) }
    }
    var foot: String { lines.last ?? "" }

    /// The selected text, as marked on the screen.
    var selected: String {
      let picture = model.picture(columns: 100, rows: 30)
      return (0..<picture.rows - 1).flatMap { row in
        picture.row(row).filter { $0.style.isReversed && $0.width > 0 }.map(\.character)
      }.reduce(into: "") { $0.append($1) }.trimmed
    }

    var calls: [HostScreenModel.Call] {
      model.removeRequests().compactMap { if case .call(let call) = $0 { call } else { nil } }
    }
  }

  @Test func `the host can admit one person or all people of the waiting room`() {
    let screen = Screen()
    screen.press(.character("1"), .down)
    #expect(screen.foot.contains("l let all in"))
    screen.press(.down, .down)
    #expect(screen.selected.contains("bob") && !screen.selected.contains("ann"))
    screen.press(.enter)
    let calls = screen.calls
    #expect(calls.map(\.method) == ["Admit"])
    #expect(calls[0].parameters == ["room": "main", "user": "bob"])
    #expect(screen.foot.contains("let in ..."))
    screen.model.apply(.outcome(.init(call: calls[0], failure: "the room is full")))
    #expect(screen.foot.contains("let in: the room is full"))
    screen.press(.up, .up, .character("l"))
    #expect(screen.calls.first?.parameters == ["room": "main", "all": true])
  }

  @Test func `a host action sends the number of its row only if it requires a numbered row`() {
    let row = ActTarget(identity: "row 12345", acts: [], row: "12345")
    func given(_ input: ScreenInput) -> [JSONName: JSONValue] {
      row.parameters(
        ScreenAct(label: "", method: "", parameters: [:], input: input, parameter: "user"))
    }
    #expect(given(.row) == ["user": "12345"])
    #expect(given(.numberedRow) == ["user": 12345])
  }

  @Test func `when the selected person leaves the waiting room, the next person is selected`() {
    let screen = Screen()
    screen.press(.character("1"), .down, .down)
    #expect(screen.selected.contains("ann"))
    screen.model.apply(.screen(room: "main", TerminalScreenTests.screen(waiting: ["bob"]), at: 0))
    #expect(screen.selected.contains("bob"))
  }

  @Test func `host actions on notices and on numbered rows send the number of the selected row`() {
    let screen = Screen()
    screen.press(.character("2"), .down)
    #expect(screen.foot.contains("p pin  d dismiss"))
    screen.press(.character("d"))
    #expect(
      screen.calls.first?.parameters
        == ["room": "main", "notice": 5, "handling": "dismiss"])
    screen.press(.escape, .up)
    #expect(screen.selected.contains("text 59"))
    screen.press(.up, .character("t"))
    #expect(screen.calls.first?.parameters == ["room": "main", "number": 58])
  }

  @Test
  func `a selection that moves through a long list stays visible, and Escape ends the selection`() {
    let screen = Screen()
    screen.press(.character("2"), .up)
    for _ in 0..<40 { screen.press(.up) }
    #expect(screen.selected.contains("text 19"))
    screen.press(.escape)
    #expect(screen.selected == "LIVE" && screen.lines.contains { $0.hasSuffix("text 59") })
  }

  @Test func `a level is changed by keys or set by typing a number`() {
    let screen = Screen()
    screen.press(.character("3"), .down)
    #expect(screen.foot.contains("s set") && screen.foot.contains("+-"))
    screen.press(.character("+"), .character("+"))
    let calls = screen.calls
    #expect(calls.map { $0.parameters["value"] } == [0.55, 0.6])
    // The next step starts from the requested level until the screen shows the new level.
    for call in calls { screen.model.apply(.outcome(.init(call: call))) }
    screen.press(.character("+"))
    let next = screen.calls
    #expect(next.map { $0.parameters["value"] } == [0.65])
    for call in next { screen.model.apply(.outcome(.init(call: call))) }
    let late = TerminalScreenTests.screen()
    screen.model.apply(.screen(room: "main", late, at: 1))
    screen.press(.character("+"), .character("-"))
    let after = screen.calls
    #expect(after.map { $0.parameters["value"] } == [0.7, 0.65])
    for call in after { screen.model.apply(.outcome(.init(call: call))) }
    for time in [1, 1_000_000_000] as [UInt64] {
      screen.model.apply(.screen(room: "main", late, at: time))
    }
    screen.press(.character("-"))
    #expect(screen.calls.first?.parameters["value"] == 0.45)
    screen.press(.character("s"))
    screen.type("7x")
    screen.press(.backspace)
    screen.type("5%")
    #expect(screen.foot.contains("set (0 to 100): 75%"))
    screen.press(.enter)
    #expect(screen.calls.first?.parameters["value"] == 0.75)
    screen.press(.character("s"))
    screen.type("many")
    screen.press(.enter)
    #expect(screen.calls.isEmpty && screen.foot.contains("from 0 to 100"))
  }

  @Test func `a switch stays selected after it was toggled`() {
    let screen = Screen()
    screen.press(.character("3"), .down, .down)
    #expect(screen.selected.contains("camera off"))
    screen.press(.enter)
    #expect(
      screen.calls.first?.parameters == ["room": "main", "control": "camera", "on": true])
    screen.model.apply(.screen(room: "main", TerminalScreenTests.screen(camera: true), at: 0))
    #expect(screen.selected.contains("camera on") && screen.foot.contains("turn off"))
  }

  @Test func `a pane without content still offers its host actions, and so does the top line`() {
    let screen = Screen()
    #expect(screen.lines.contains { $0.contains("[record]") })
    screen.press(.character("4"), .down, .character("r"))
    #expect(screen.calls.first?.method == "StartRecording")
    screen.press(.character("0"), .down)
    #expect(screen.foot.contains("e end the stream"))
  }

  @Test
  func `a click selects, a second click on it acts, and the wheel scrolls the pane at the pointer`()
    throws
  {
    let screen = Screen()
    screen.model.resize(columns: 100, rows: 30)
    func place(_ text: String) throws -> (row: Int, column: Int) {
      let row = try #require(screen.lines.firstIndex { $0.contains(text) })
      let before = screen.lines[row].prefix { $0 != text.first }
      return (row, before.count)
    }
    let bob = try place("bob")
    screen.press(.click(row: bob.row, column: bob.column))
    #expect(screen.selected.contains("bob") && screen.calls.isEmpty)
    screen.press(.click(row: bob.row, column: bob.column))
    #expect(screen.calls.first?.parameters == ["room": "main", "user": "bob"])
    let chat = try #require(screen.lines.firstIndex { $0.contains("text 59") })
    screen.press(.wheel(-3, row: chat, column: 5))
    #expect(screen.lines.contains { $0.contains("3 newer below") })
    screen.press(.click(row: 29, column: 0), .click(row: 500, column: 500))
    #expect(screen.calls.isEmpty)
  }

  @Test func `the keys n and N move from match to match`() {
    let screen = Screen()
    screen.press(.character("/"))
    screen.type("TEXT 3")
    #expect(screen.foot.contains("search: TEXT 3"))
    screen.press(.enter)
    #expect(screen.selected.contains("text 39"))
    screen.press(.character("n"))
    #expect(screen.selected.contains("text 38"))
    screen.press(.character("N"), .character("N"))
    #expect(screen.selected.contains("text 39") && screen.foot.contains("no later message"))
    screen.press(.character("/"))
    screen.type("nothing like it")
    screen.press(.enter)
    #expect(screen.foot.contains("no earlier message with \"nothing like it\""))
    screen.press(.character("/"), .character("q"), .escape)
    #expect(screen.lines[0].contains("LIVE"))
  }

  @Test
  func `each host action has its own key, and no such key already has a function on the screen`() {
    func keys(_ labels: [String]) -> String {
      let acts = labels.map {
        ScreenAct(label: $0, method: "M", parameters: [:])
      }
      return String(ActTarget(identity: "", acts: acts).keys.map(\.key))
    }
    #expect(keys(["pin", "dismiss"]) == "pd")
    #expect(keys(["set", "set", "set"]) == "set")
    #expect(keys(["quit", "zap", "go", "한국어"]).allSatisfy { !"qzkjgnh".contains($0) })
    #expect(Set(keys(["a", "a", "a", "a"])).count == 4)
  }
}

@Suite struct RoomListTests {
  private func room(_ name: String, _ received: Int) -> RoomSummary {
    RoomSummary(
      room: name, phase: .live, viewers: 7, counters: Counters(received: received, applied: 1))
  }

  @Test func `the list of rooms shows their figures, and a room can be opened and left`() {
    var model = HostScreenModel(rooms: [], hasList: true)
    func lines() -> [String] {
      let picture = model.picture(columns: 80, rows: 12)
      return (0..<picture.rows).map { picture.text(row: $0) }
    }
    func press(_ keys: Key...) { for key in keys { _ = model.press(key) } }
    #expect(lines().contains { $0.contains("loading") })
    model.apply(.rooms([], at: 1))
    #expect(lines().contains { $0.contains("No room is open") })
    model.apply(.rooms([room("b", 100), room("a", 50), room("attic", 0)], at: 1_000_000_000))
    model.apply(.rooms([room("b", 150), room("a", 50), room("attic", 0)], at: 2_000_000_000))
    #expect(lines().contains { $0.hasPrefix("b ") && $0.contains("50.0") && $0.contains("150") })
    press(.down, .down, .enter)
    #expect(model.removeRequests() == [.show("b")])
    model.apply(.screen(room: "b", .made(room: "b", chat: .messages(0..<3)), at: 0))
    #expect(lines()[0].hasPrefix("b "))
    press(.right)
    #expect(model.removeRequests() == [.show("a")])
    press(.left)
    #expect(model.removeRequests() == [.show("b")])
    press(.escape)
    #expect(lines()[0].contains("Rooms"))
    press(.character("/"), .character("a"), .character("t"), .enter, .enter)
    #expect(model.removeRequests() == [.show("attic")])
    model.apply(.ended(room: "attic", reason: "the room 'attic' was closed"))
    #expect(lines()[0].contains("Rooms") && lines()[11].contains("was closed"))
  }
}

extension String {
  fileprivate var trimmed: String {
    var text = self[...]
    while text.first == " " { text = text.dropFirst() }
    while text.last == " " { text = text.dropLast() }
    return String(text)
  }
}
